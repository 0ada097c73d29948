/** An object of JSON from outside. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object; empty where it is none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

/** The value as a list; empty where it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 1_000) : [];
}

/** The value as text; empty where it is neither text nor a number. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
