/** Text that a spreadsheet would run as a formula. */
const formula = /^[=+\-@\t\r]/;
const special = /[",\r\n]/;

/**
 * Formats one CSV line (RFC 4180 section 2), including CRLF. Text that a spreadsheet would run as a formula gets a
 * leading apostrophe; numbers are unchanged.
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
