import { useEffect } from 'react';

/** Parts of the page that hold something typed and not saved. */
const holders = new Set<symbol>();

/** Says whether a part of the page holds something that would be lost with the page. */
export function useUnsaved(unsaved: boolean): void {
  useEffect(() => {
    if (!unsaved) return;
    const holder = Symbol('unsaved');
    holders.add(holder);
    return () => {
      holders.delete(holder);
    };
  }, [unsaved]);
}

export function isUnsaved(): boolean {
  return holders.size > 0;
}
