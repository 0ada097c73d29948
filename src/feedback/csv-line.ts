/** What a spreadsheet would run as a formula. */
const formula = /^[=+\-@\t\r]/;
const special = /[",\r\n]/;

/**
 * One line of CSV (RFC 4180 section 2) with its CRLF. Texts that a spreadsheet would run as a formula get an apostrophe in
 * front; numbers stay as they are.
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
