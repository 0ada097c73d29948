/** Text that a spreadsheet would run as a formula, also behind apostrophes, so that one more can be told apart. */
const formula = /^'*[=+\-@\t\r]/;
/** Quoted semicolons and tabs aren't taken for delimiters, and quoted spaces aren't trimmed. */
const special = /[",;\t\r\n]|^\s|\s$/;

/**
 * Formats one CSV line (RFC 4180 section 2), including CRLF. Text that a spreadsheet would run as a formula gets a
 * leading apostrophe, which `withoutFormulaGuard` removes; numbers are unchanged.
 */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = formula.test(value) ? `'${value}` : value;
  return special.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The text that `csvLine` wrote as this value. */
export function withoutFormulaGuard(value: string): string {
  return value.startsWith("'") && formula.test(value) ? value.slice(1) : value;
}
