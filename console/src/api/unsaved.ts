import { useEffect } from 'react';

/** Parts of the page that hold something typed and not saved. */
const unsavedParts = new Set<symbol>();

/** Says whether a part of the page holds something that would be lost with the page. */
export function useUnsaved(unsaved: boolean): void {
  useEffect(() => {
    if (!unsaved) return;
    const holder = Symbol('unsaved');
    unsavedParts.add(holder);
    return () => {
      unsavedParts.delete(holder);
    };
  }, [unsaved]);
}

export function hasUnsavedChanges(): boolean {
  return unsavedParts.size > 0;
}
