import type { FieldUses, RequiredItemField } from './compiled-template.ts';
import { type FieldFormat, isReadable } from './field-format.ts';
import { type FieldIndex, noFields } from './field-index.ts';
import { type FieldRecord, type FieldValue, type GivenValues, isRecord } from './field-value.ts';

/** Places named for one message; 500 items can lack hundreds of fields each. */
const maxPlaces = 1_000;

/** An item, or the whole map, and what is outside of it. */
interface Frame {
  readonly record: GivenValues;
  readonly fields: FieldIndex;
  /** What the names in it are prefixed with in messages: `Items[3].` */
  readonly prefix: string;
  readonly outer: Frame | undefined;
}

/** The places in items that need a value and have none. */
export function missingItemFields(parts: readonly FieldUses[], values: GivenValues): string[] {
  const missing = new Set<string>();
  const top: Frame = { record: values, fields: noFields, prefix: '', outer: undefined };
  for (const { required } of parts)
    for (const use of required)
      for (const frame of framesAt(top, use.path)) {
        if (missing.size >= maxPlaces) return [...missing];
        if (!hasValue(frame, use)) missing.add(`${frame.prefix}${use.name}`);
      }
  return [...missing];
}

function hasValue(frame: Frame, { name, outside }: RequiredItemField): boolean {
  if (Object.hasOwn(frame.record, name)) return true;
  return outside && frame.outer !== undefined && hasValue(frame.outer, { path: [], name, outside });
}

/** The values that helpers can't read. Defaults were checked when the version was published. */
export function unreadableValues(
  parts: readonly FieldUses[],
  fields: FieldIndex,
  values: GivenValues,
): { readonly place: string; readonly format: FieldFormat }[] {
  const found = new Map<string, FieldFormat>();
  const top: Frame = { record: values, fields, prefix: '', outer: undefined };
  for (const { formatted } of parts)
    for (const { path, name, format } of formatted)
      for (const frame of framesAt(top, path)) {
        if (found.size >= maxPlaces) break;
        const given = findGiven(frame, name);
        if (given === undefined || isReadable(format, given.value)) continue;
        if (!found.has(given.place)) found.set(given.place, format);
      }
  return Array.from(found, ([place, format]) => ({ place, format }));
}

/** The text that a name means there, if the request gives it. */
function findGiven(
  frame: Frame,
  name: string,
): { readonly place: string; readonly value: string } | undefined {
  if (Object.hasOwn(frame.record, name)) {
    const value = frame.record[name];
    return typeof value === 'string' ? { place: `${frame.prefix}${name}`, value } : undefined;
  }
  if (frame.fields.get(name)?.default !== undefined || frame.outer === undefined) return undefined;
  return findGiven(frame.outer, name);
}

/** The items that a path leads to; the items of a default are not among them. */
function* framesAt(frame: Frame, path: readonly string[]): Generator<Frame> {
  const [name, ...rest] = path;
  if (name === undefined) {
    yield frame;
    return;
  }
  const value: FieldValue | undefined = Object.hasOwn(frame.record, name)
    ? frame.record[name]
    : undefined;
  const fields = frame.fields.get(name)?.fields ?? noFields;
  const inner = (record: FieldRecord, place: string): Frame => ({
    record,
    fields,
    prefix: `${frame.prefix}${place}.`,
    outer: frame,
  });
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      if (isRecord(item)) yield* framesAt(inner(item, `${name}[${index}]`), rest);
  } else if (isRecord(value) && Object.keys(value).length > 0)
    yield* framesAt(inner(value, name), rest);
}
