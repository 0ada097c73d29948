import { Type } from 'typebox';
import { OpenObject, Text } from '../../../base/values/common-schemas.ts';
import { problemCatalog } from '../answer/problem.ts';

/** A schema as JSON. */
export type SchemaJson = Readonly<Record<string, unknown>>;

/** Keywords that only validate here. Importers make up as many members as `maxProperties` allows. */
const unpublished = new Set(['patternErrorMessage', 'maxProperties']);

/**
 * Turns titled schemas into components and references, so generated clients get readable type names.
 */
export class NamedSchemas {
  readonly #components = new Map<string, { readonly json: SchemaJson; readonly text: string }>();

  /**
   * The schema, or a reference to it.
   * @throws Error if two different schemas share a title, which is a bug
   */
  reference(schema: unknown): SchemaJson {
    const plain = JSON.parse(JSON.stringify(schema)) as SchemaJson;
    return this.#visit(plain) as SchemaJson;
  }

  components(): Record<string, SchemaJson> {
    const sorted = [...this.#components].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, { json }]) => [name, json]));
  }

  #visit(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#visit(item));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value)
      .filter(([name]) => !unpublished.has(name))
      .map(([name, inner]) => [name, this.#visit(inner)]);
    const json: SchemaJson = Object.fromEntries(entries);
    return typeof json.title === 'string' && json.type === 'object' ? this.#name(json) : json;
  }

  #name({ title, ...json }: SchemaJson): SchemaJson {
    const name = String(title);
    const text = JSON.stringify(json);
    const existing = this.#components.get(name);
    if (existing !== undefined && existing.text !== text)
      throw new Error(`two different schemas are titled ${name}`);
    this.#components.set(name, { json, text });
    return { $ref: `#/components/schemas/${name}` };
  }
}

const types = Object.keys(problemCatalog).map((code) => `/problems/${code}`);

/** Problem details (RFC 9457), the body of every management API error. */
export const ProblemSchema = OpenObject('Problem', {
  type: Type.Enum(types, { description: 'Identifies the kind of problem.' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Text('One sentence about this particular request.'),
  errors: Type.Optional(
    Type.Array(Type.Object({ field: Type.String(), reason: Type.String() }), {
      description: 'Every invalid value.',
    }),
  ),
  requestId: Type.String(),
});

/**
 * Returns a valid value: the schema's own example, or one built from its members. Without one, API pages, importers and
 * testers invent values.
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

/** Includes the required members and the optional ones with their own examples. */
function exampleOfObject({ properties, required }: SchemaJson): unknown {
  const names = (required ?? []) as readonly string[];
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, SchemaJson>>).filter(
    ([name, { examples }]) => names.includes(name) || examples !== undefined,
  );
  return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member)]));
}
