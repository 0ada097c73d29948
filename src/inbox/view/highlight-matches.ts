import { type Html, html } from '../../foundation/html.ts';

/** The text as HTML, with every case-insensitive match of the search marked. */
export function highlightMatches(text: string, search: string): Html {
  const haystack = text.toLowerCase();
  const needle = search.toLowerCase();
  // Lowercasing can change the length of a text, and then the positions differ.
  if (needle === '' || haystack.length !== text.length) return html`${text}`;
  const pieces: Html[] = [];
  let end = 0;
  for (;;) {
    const start = haystack.indexOf(needle, end);
    if (start < 0) break;
    const stop = start + needle.length;
    pieces.push(html`${text.slice(end, start)}<mark>${text.slice(start, stop)}</mark>`);
    end = stop;
  }
  return html`${pieces}${text.slice(end)}`;
}
