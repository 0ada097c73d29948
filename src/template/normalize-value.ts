/** Line breaks of a value as bodies have them. */
const LINE_BREAK = /\r\n?/g;

/** Half characters become U+FFFD: they have no form in UTF-8. */
export function normalizeValue(value: string): string {
  const text = value.isWellFormed() ? value : value.toWellFormed();
  return text.includes('\r') ? text.replace(LINE_BREAK, '\n') : text;
}
