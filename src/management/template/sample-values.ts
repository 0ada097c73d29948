import type { CompileResult } from '../../template/compile-source.ts';
import { invalidField } from '../answer/problem.ts';
import type { VersionContent } from './template-views.ts';

/** Bytes of UTF-8 of all values and their names together, as many as a body of the send operation has. */
export const maxValueBytes = 256 * 1024;

/** A value for every field, so that a preview never has holes. */
export function sampleValues(
  { fields }: Pick<CompileResult, 'fields'>,
  content: VersionContent,
  given: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const settingsByName = new Map(Object.entries(content.fields ?? {}));
  const values = fields.map(({ name }): [string, string] => {
    const fieldSettings = settingsByName.get(name);
    return [name, fieldSettings?.sample ?? fieldSettings?.default ?? name];
  });
  return { ...Object.fromEntries(values), ...given };
}

/**
 * Refuses values that no message could have.
 * @throws Problem that names the largest one
 */
export function requireSendableValues(values: Readonly<Record<string, string>> = {}): void {
  let total = 0;
  let largest = { name: '', bytes: 0 };
  for (const [name, value] of Object.entries(values)) {
    const bytes = Buffer.byteLength(value);
    total += bytes + Buffer.byteLength(name);
    if (bytes > largest.bytes) largest = { name, bytes };
  }
  if (total <= maxValueBytes) return;
  throw invalidField(
    `values.${largest.name.slice(0, 120).toWellFormed()}`,
    `has ${largest.bytes} bytes; all values together may have ${maxValueBytes}`,
  );
}
