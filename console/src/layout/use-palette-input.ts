import { useEffect, useState } from 'react';

/** Input typed for the palette. */
export interface PaletteInput {
  readonly typed: string;
  /** Enter was pressed after the input. */
  readonly entered: boolean;
  change(typed: string): void;
  enter(): void;
  /** Called once the field receives keys itself. */
  onFocus(): void;
}

const emptyInput = { typed: '', entered: false };

/**
 * Captures keys typed between opening the palette and its field getting focus, while its script may still be loading.
 */
export function usePaletteInput(
  opened: boolean,
  close: () => void,
): PaletteInput & { reset(): void } {
  const [typing, setTyping] = useState(emptyInput);
  const [focused, setFocused] = useState(false);
  const beforeFocus = opened && !focused;

  useEffect(() => {
    if (!beforeFocus) return;
    function onKey(event: KeyboardEvent) {
      const { key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (key === 'Escape') close();
      else if (key === 'Enter') setTyping((now) => ({ ...now, entered: true }));
      else if (key === 'Backspace') change((typed) => typed.slice(0, -1));
      else if (key.length === 1) change((typed) => typed + key);
      else return;
      // Otherwise the focused element would handle the key.
      event.preventDefault();
      event.stopPropagation();
    }
    function change(next: (typed: string) => string) {
      setTyping(({ typed }) => ({ typed: next(typed), entered: false }));
    }
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, [beforeFocus, close]);

  return {
    ...typing,
    reset() {
      setTyping(emptyInput);
      setFocused(false);
    },
    change: (typed) => setTyping({ typed, entered: false }),
    enter: () => setTyping((now) => ({ ...now, entered: true })),
    onFocus: () => setFocused(true),
  };
}
