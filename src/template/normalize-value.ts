/** The line breaks that bodies normalize to line feeds. */
const LINE_BREAK = /\r\n?/g;

/** Replaces unpaired surrogates with U+FFFD, because UTF-8 can't encode them. */
export function normalizeValue(value: string): string {
  const text = value.isWellFormed() ? value : value.toWellFormed();
  return text.includes('\r') ? text.replace(LINE_BREAK, '\n') : text;
}
