import type { CompileResult } from '../../template/compile-source.ts';
import { invalidField } from '../answer/problem.ts';
import type { VersionContent } from './template-views.ts';

/** Max UTF-8 bytes of all names and values, the same as a send request body. */
export const maxValueBytes = 256 * 1024;

/** Fills in a value for every field, so a preview has no gaps. */
export function sampleValues(
  { fields }: Pick<CompileResult, 'fields'>,
  content: VersionContent,
  overrides: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const settingsByName = new Map(Object.entries(content.fields ?? {}));
  const values = fields.map(({ name }): [string, string] => {
    const fieldSettings = settingsByName.get(name);
    return [name, fieldSettings?.sample ?? fieldSettings?.default ?? name];
  });
  return { ...Object.fromEntries(values), ...overrides };
}

/**
 * Rejects values too large for any message.
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
    `has ${largest.bytes} bytes; the limit for all values together is ${maxValueBytes}`,
  );
}
