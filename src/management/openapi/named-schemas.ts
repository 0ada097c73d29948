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
