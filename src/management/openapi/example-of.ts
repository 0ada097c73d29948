import type { SchemaJson } from './named-schemas.ts';

/**
 * A value that the schema accepts: its own example, or one made from its members. API pages, importers and testers that get none
 * invent values.
 * @throws Error if the schema needs an example of its own, which is a bug
 */
export function exampleOf(schema: SchemaJson): unknown {
  const { type, examples, const: constant, enum: values, minItems } = schema;
  const [own] = [constant ?? [], examples ?? [], values ?? []].flat();
  if (own !== undefined) return own;
  const [alternative] = (schema.anyOf ?? []) as readonly SchemaJson[];
  if (alternative !== undefined) return exampleOf(alternative);
  switch (type) {
    case 'object':
      return exampleOfObject(schema);
    case 'array':
      return minItems === undefined ? [] : [exampleOf(schema.items as SchemaJson)];
    case 'integer':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    case 'string':
      if (schema.format === 'uuid') return '01a210b8-b187-7361-88be-ae3209a56fef';
      if (schema.format === 'date-time') return '2030-01-01T09:00:00Z';
  }
  throw new Error(`a schema needs examples: ${JSON.stringify(schema)}`);
}

/** Has the required members, and the optional ones that have examples of their own. */
function exampleOfObject({ properties, required }: SchemaJson): unknown {
  const names = (required ?? []) as readonly string[];
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, SchemaJson>>).filter(
    ([name, { examples }]) => names.includes(name) || examples !== undefined,
  );
  return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member)]));
}
