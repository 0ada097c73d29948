/** The backdrop would close the palette that the first click has opened. */
const backdrop = '.mantine-Modal-overlay, .mantine-Modal-inner';

/**
 * Takes the further clicks of a double click from every button and backdrop: an answer may arrive between the two, and the second
 * would then do again what the first has done, or press what has come under the pointer meanwhile. Keys click with a
 * count of 0 (UI Events, section 3.4.1) and are not affected.
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
    // Before any handler of a part.
    { capture: true },
  );
}
