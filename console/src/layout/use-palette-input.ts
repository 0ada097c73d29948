import { useEffect, useState } from 'react';

/** What is typed into the palette. */
export interface PaletteInput {
  readonly typed: string;
  /** Enter was pressed after what is typed. */
  readonly entered: boolean;
  change(typed: string): void;
  enter(): void;
  /** The field takes the keys itself from now on. */
  onFocus(): void;
}

const emptyInput = { typed: '', entered: false };

/**
 * What is typed into the palette from the moment that it is asked for: its script may still be on the way then, and its field
 * without the focus, so keys come to the page.
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
      // What has the focus meanwhile would take it for itself.
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
