import type { CompiledField } from './compiled-template.ts';
import type { FieldKind, FieldValue } from './field-value.ts';

/** A field by name, with the fields of its items. */
export interface IndexedField {
  readonly kind: FieldKind;
  readonly default: FieldValue | undefined;
  readonly fields: FieldIndex;
}

export type FieldIndex = ReadonlyMap<string, IndexedField>;

export const noFields: FieldIndex = new Map();

/** A version's fields by name, computed once per version. */
export function indexFields(fields: readonly CompiledField[]): FieldIndex {
  return new Map(
    fields.map((field): [string, IndexedField] => [
      field.name,
      {
        kind: field.kind ?? 'text',
        default: field.default,
        fields: field.fields === undefined ? noFields : indexFields(field.fields),
      },
    ]),
  );
}

/** The lists and objects among the fields; undefined where all are texts. */
export function structuredFields(fields: FieldIndex): FieldIndex | undefined {
  const structured = [...fields].filter(([, { kind }]) => kind !== 'text');
  return structured.length === 0 ? undefined : new Map(structured);
}
