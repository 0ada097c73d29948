import { html } from 'ghtml';

/** The text as HTML, with every place marked where the search stands in it, in any case. */
export function markFound(text: string, search: string): string {
  const haystack = text.toLowerCase();
  const needle = search.toLowerCase();
  // Lower case can be longer than upper case; then places in one are not places in the other.
  if (needle === '' || haystack.length !== text.length) return html`${text}`;
  const pieces: string[] = [];
  let end = 0;
  for (;;) {
    const start = haystack.indexOf(needle, end);
    if (start < 0) break;
    const stop = start + needle.length;
    pieces.push(html`${text.slice(end, start)}<mark>${text.slice(start, stop)}</mark>`);
    end = stop;
  }
  return pieces.join('') + html`${text.slice(end)}`;
}
