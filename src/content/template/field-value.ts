import {
  MAX_FIELD_DEPTH,
  MAX_LIST_ITEMS,
  MAX_MEMBER_NAME_LENGTH,
  MAX_MEMBERS,
  MAX_STRUCTURED_BYTES,
} from './template-limits.ts';

/** What the values of a field are. */
export type FieldKind = 'text' | 'list' | 'object';

/** The value of a field: a text, an object, or a list of objects. */
export type FieldValue = string | FieldRecord | readonly FieldRecord[];

/** An object, or an item of a list. */
export interface FieldRecord {
  readonly [name: string]: FieldValue;
}

/** Values by field name. */
export type GivenValues = Readonly<Record<string, FieldValue>>;

/** True for an object, an item included; false for a list and for everything else. */
export function isRecord(value: unknown): value is FieldRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a section is repeated for: the items of a list, or an object unless it is empty. */
export function recordsOf(value: FieldValue | null | undefined): readonly FieldRecord[] {
  if (Array.isArray(value)) return value.every(isRecord) ? value : value.filter(isRecord);
  return isRecord(value) && Object.keys(value).length > 0 ? [value] : [];
}

/** The text of a value; for a list or an object any text says that it isn't empty, which is all that sections ask. */
export function textOfValue(value: FieldValue | null | undefined): string {
  if (typeof value === 'string') return normalizeValue(value);
  return recordsOf(value).length === 0 ? '' : 'filled';
}

/**
 * JSON Schemas of an object, and of a list of objects, as deep as fields can be declared.
 * @param title of the object, followed by how deep objects and lists can be inside
 */
export function structureSchemas(
  title = 'ValueObject',
  maxLength = MAX_STRUCTURED_BYTES,
  depth = MAX_FIELD_DEPTH,
): object[] {
  const text = { type: 'string', maxLength };
  const record = {
    title: `${title}${depth - 1}`,
    type: 'object',
    maxProperties: MAX_MEMBERS,
    propertyNames: { type: 'string', maxLength: MAX_MEMBER_NAME_LENGTH },
    additionalProperties:
      depth === 1 ? text : { anyOf: [text, ...structureSchemas(title, maxLength, depth - 1)] },
  };
  return [record, { type: 'array', maxItems: MAX_LIST_ITEMS, items: record }];
}

/** The line breaks that bodies normalize to line feeds. */
const LINE_BREAK = /\r\n?/g;

/** Replaces unpaired surrogates with U+FFFD, because UTF-8 can't encode them. */
export function normalizeValue(value: string): string {
  const text = value.isWellFormed() ? value : value.toWellFormed();
  return text.includes('\r') ? text.replace(LINE_BREAK, '\n') : text;
}
