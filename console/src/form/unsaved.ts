import { useEffect, useRef } from 'react';

/** Parts of the page that may have unsaved input. */
const parts = new Set<() => boolean>();

/** Registers a part of the page: leaving the page asks first while it has unsaved input. */
export function useUnsaved(isUnsaved: () => boolean): void {
  const latest = useRef(isUnsaved);
  latest.current = isUnsaved;
  useEffect(() => {
    const part = () => latest.current();
    parts.add(part);
    return () => {
      parts.delete(part);
    };
  }, []);
}

export function hasUnsavedChanges(): boolean {
  return [...parts].some((isUnsaved) => isUnsaved());
}
