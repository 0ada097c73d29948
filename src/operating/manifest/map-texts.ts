import { isObject } from '../../base/values/is-object.ts';
import type { ManifestPath } from './manifest-problems.ts';

/** A copy of a manifest with other texts, except member names, and without the members that have no value. */
export function mapTexts(
  value: unknown,
  map: (text: string, path: ManifestPath) => string,
  path: ManifestPath = [],
): unknown {
  const inner = (member: unknown, name: string | number) => mapTexts(member, map, [...path, name]);
  if (typeof value === 'string') return map(value, path);
  if (Array.isArray(value)) return value.map(inner);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, inner(member, name)]));
}
