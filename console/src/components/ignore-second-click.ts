/** The second click would hit the backdrop and close the palette again. */
const backdrop = '.mantine-Modal-overlay, .mantine-Modal-inner';

/**
 * Ignores repeated clicks of a double click on buttons and backdrops: a response may arrive in between, so the second click would
 * repeat the action or hit whatever is now under the pointer. Keyboard clicks have a count of 0 (UI Events, section 3.4.1) and
 * aren't affected.
 */
export function ignoreSecondClicks(): void {
  document.addEventListener(
    'click',
    (event) => {
      if (event.detail < 2 || !(event.target instanceof Element)) return;
      if (event.target.closest('button') === null && !event.target.matches(backdrop)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    // Runs before all component handlers.
    { capture: true },
  );
}
