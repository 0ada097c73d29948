import { useEffect } from 'react';

/** Parts of the page with unsaved input. */
const unsavedParts = new Set<symbol>();

/** Registers whether a part of the page has unsaved input. */
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
