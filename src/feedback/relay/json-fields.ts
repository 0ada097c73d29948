/** An object of JSON from outside. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The value as an object; empty where it is none. */
export function fieldsOf(value: unknown): JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonFields)
    : {};
}

/** The value as a list, which is as long as the largest body allows; empty where it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; empty where it is neither text nor a number. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
