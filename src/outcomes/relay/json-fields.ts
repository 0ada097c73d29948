import { isObject } from '../../base/values/is-object.ts';

/** A JSON object from outside. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The value as an object; empty if it isn't one. */
export function fieldsOf(value: unknown): JsonFields {
  return isObject(value) ? value : {};
}

/** The value as a list, bounded only by the max body size; empty if it isn't one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; empty if it is neither text nor a number. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
