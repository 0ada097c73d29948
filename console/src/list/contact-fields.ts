import { localProblem } from '../api/problem.ts';
import { text } from '../texts/text.ts';

/** A field of a contact as it is edited. */
export interface FieldRow {
  readonly name: string;
  readonly value: string;
}

export function rowsOf(fields: Readonly<Record<string, string>>): FieldRow[] {
  return Object.entries(fields).map(([name, value]) => ({ name, value }));
}

/**
 * The fields of rows, which keep every character. Rows without name and value are omitted.
 * @throws ApiProblem for a value without a name, and for a name that two rows have
 */
export function fieldsIn(rows: readonly FieldRow[]): Record<string, string> {
  const filled = rows.filter(({ name, value }) => name !== '' || value !== '');
  if (filled.some(({ name }) => name.trim() === ''))
    throw localProblem('fields', text('contacts.unnamed'));
  const names = filled.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw localProblem('fields', text('contacts.repeated', { name: repeated }));
  return Object.fromEntries(filled.map(({ name, value }) => [name, value]));
}
