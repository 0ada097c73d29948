import {
  MAX_FIELD_DEPTH,
  MAX_LIST_ITEMS,
  MAX_MEMBER_NAME_LENGTH,
  MAX_MEMBERS,
  MAX_STRUCTURED_BYTES,
} from './template-limits.ts';

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
