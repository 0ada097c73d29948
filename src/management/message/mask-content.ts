import { bccOf, type StoredContent, visibleCc } from '../../message/message-content.ts';
import type { CompiledField } from '../../template/compiled-template.ts';
import type { FieldValue } from '../../template/field-value.ts';

/** Shown instead of a secret value, to every role. */
export const mask = '••••••';

/** Content as the management API shows it. */
export type ContentView = Omit<StoredContent, 'bccCount'> & {
  readonly bcc?: StoredContent['cc'];
};

/** Masks secret values and separates Cc from Bcc. Null if the content was erased; erased values are null. */
export function maskContent(
  content: StoredContent | null,
  secret: ReadonlySet<string>,
): ContentView | null {
  if (content === null) return null;
  const values = Object.entries(content.values).map(([name, value]) => [
    name,
    value !== null && secret.has(name) ? mask : value,
  ]);
  const { bccCount, ...shown } = { ...content, values: Object.fromEntries(values) };
  return bccCount === undefined ? shown : { ...shown, cc: visibleCc(content), bcc: bccOf(content) };
}

/** Values for rendering, with secret and erased ones masked. @param fields of the message's version */
export function maskedValues(
  content: StoredContent,
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
