import type { CompiledField } from '../template/compiled-template.ts';
import type { FieldValue } from '../template/field-value.ts';
import type { StoredContent } from './message-content.ts';

/** Shown instead of a secret value, to every role. */
export const mask = '••••••';

/** Values for rendering, with secret and erased ones masked. @param fields of the message's version */
export function maskedValues(
  content: Pick<StoredContent, 'values'>,
  secret: ReadonlySet<string>,
  fields: readonly CompiledField[],
): Record<string, FieldValue> {
  const fieldsByName = new Map(fields.map((field) => [field.name, field]));
  const values = Object.entries(content.values).map(([name, value]) => [
    name,
    value === null || secret.has(name) ? maskOf(fieldsByName.get(name)) : value,
  ]);
  return Object.fromEntries(values);
}

/** Masks a list as a single item, which hides its length. */
function maskOf(field: CompiledField | undefined): FieldValue {
  if (field?.kind === undefined) return mask;
  const record = Object.fromEntries(
    (field.fields ?? []).map((inner) => [inner.name, maskOf(inner)]),
  );
  return field.kind === 'list' ? [record] : record;
}
