/** Text that a spreadsheet would run as a formula, also behind apostrophes, so that one more can be told apart. */
const formula = /^'*[=+\-@\t\r]/;
/** Quoted semicolons and tabs aren't taken for delimiters. */
const special = /[",;\t\r\n]/;

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

/** Why a row can't be stored, as a sentence; undefined if it can. */
export function findUndecoded(record: readonly string[]): string | undefined {
  if (record.some((value) => value.includes('\0'))) return 'A value contains a NUL character';
  return record.some((value) => value.includes('\ufffd'))
    ? 'A value isn’t readable as UTF-8. Save the file as “CSV UTF-8”'
    : undefined;
}

/** Says that a column is required, and which ones there are, since a misspelt one is the usual cause. */
export function describeMissingColumn(name: string, columns: readonly string[]): string {
  const found = columns.slice(0, 10).join(', ').slice(0, 200);
  return `The file needs a column “${name}”. It has: ${found}`;
}
