import { type FieldValue, type GivenValues, isRecord } from './field-value.ts';

/**
 * The value names that a call passes to its template, to find the callers that a version would refuse. A list is `Items[]`,
 * an object `Shop{}`, followed by the names in every item, `Items[].Price`. An empty one is `Items[0]` or `Shop{0}`, without
 * names. The template usage follower does the same in SQL.
 */
export function usageNames(values: GivenValues): string[] {
  const names = Object.keys(values);
  for (const [name, value] of Object.entries(values))
    if (typeof value !== 'string') addNames([value], name, names);
  return names;
}

/** @param values one field's in every item */
function addNames(values: readonly FieldValue[], place: string, names: string[]): void {
  const isList = values.every(Array.isArray);
  if (!isList && !values.every(isRecord)) return;
  const [open, close] = isList ? '[]' : '{}';
  const records = values.flat().filter(isRecord);
  const filled = isList ? records : records.filter((record) => Object.keys(record).length > 0);
  if (filled.length === 0) {
    names.push(`${place}${open}0${close}`);
    return;
  }
  const inside = `${place}${open}${close}`;
  names.push(inside);
  const [first = {}] = filled;
  for (const name of Object.keys(first)) {
    if (!filled.every((record) => Object.hasOwn(record, name))) continue;
    names.push(`${inside}.${name}`);
    const inner = filled.map((record) => record[name] ?? '');
    if (inner.every((value) => typeof value !== 'string'))
      addNames(inner, `${inside}.${name}`, names);
  }
}
