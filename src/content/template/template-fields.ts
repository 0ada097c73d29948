import { builtInFields } from './built-in-fields.ts';
import type {
  CompiledField,
  CompiledTemplate,
  FieldPart,
  FieldUses,
  RequiredNames,
} from './compiled-template.ts';
import { type FieldFormat, isReadable } from './field-format.ts';
import { type FieldIndex, noFields } from './field-index.ts';
import { type FieldRecord, type FieldValue, type GivenValues, isRecord } from './field-value.ts';
import type { TemplateOverride } from './parse-override.ts';

/** Places named for one message; 500 items can lack hundreds of fields each. */
const maxPlaces = 1_000;

/** An item, or the whole map, and what is outside of it. */
interface Frame {
  readonly record: GivenValues;
  readonly fields: FieldIndex;
  readonly outer: Frame | undefined;
  /** Where it is in the outer one; the index is that of an item. */
  readonly name: string;
  readonly index: number | undefined;
}

/** The places in items that need a value and have none. */
function missingItemFields(parts: readonly FieldUses[], values: GivenValues): string[] {
  const missing = new Set<string>();
  const uses = groupByPath(parts.flatMap(({ required }) => required));
  for (const { path, members } of uses)
    for (const frame of framesAt(topFrame(values, noFields), path))
      for (const { name, outside } of members) {
        if (hasValue(frame, name, outside)) continue;
        missing.add(placeOf(frame, name));
        if (missing.size >= maxPlaces) return [...missing];
      }
  return [...missing];
}

function hasValue(frame: Frame, name: string, outside: boolean): boolean {
  if (Object.hasOwn(frame.record, name)) return true;
  return outside && frame.outer !== undefined && hasValue(frame.outer, name, outside);
}

/** The values that helpers can't read. Defaults were checked when the version was published. */
function unreadableValues(
  parts: readonly FieldUses[],
  fields: FieldIndex,
  values: GivenValues,
): { readonly place: string; readonly format: FieldFormat }[] {
  const found = new Map<string, FieldFormat>();
  const uses = groupByPath(parts.flatMap(({ formatted }) => formatted));
  for (const { path, members } of uses)
    for (const frame of framesAt(topFrame(values, fields), path))
      for (const { name, format } of members) {
        const given = findGiven(frame, name);
        if (given === undefined || isReadable(format, given.value)) continue;
        const place = placeOf(given.frame, name);
        if (!found.has(place)) found.set(place, format);
        if (found.size >= maxPlaces) return toList(found);
      }
  return toList(found);
}

function toList(found: ReadonlyMap<string, FieldFormat>) {
  return Array.from(found, ([place, format]) => ({ place, format }));
}

/** The text that a name means there, if the request gives it. */
function findGiven(
  frame: Frame,
  name: string,
): { readonly frame: Frame; readonly value: string } | undefined {
  if (Object.hasOwn(frame.record, name)) {
    const value = frame.record[name];
    return typeof value === 'string' ? { frame, value } : undefined;
  }
  if (frame.fields.get(name)?.default !== undefined || frame.outer === undefined) return undefined;
  return findGiven(frame.outer, name);
}

/** So that the items of a list are walked once, however many fields they have. */
function groupByPath<Use extends { readonly path: readonly string[] }>(
  uses: readonly Use[],
): { readonly path: readonly string[]; readonly members: Use[] }[] {
  const groups = new Map<string, { readonly path: readonly string[]; readonly members: Use[] }>();
  for (const use of uses) {
    // Names of fields have no line breaks.
    const key = use.path.join('\n');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { path: use.path, members: [use] });
    else group.members.push(use);
  }
  return [...groups.values()];
}

function topFrame(record: GivenValues, fields: FieldIndex): Frame {
  return { record, fields, outer: undefined, name: '', index: undefined };
}

/** The items that a path leads to; the items of a default are not among them. */
function* framesAt(frame: Frame, path: readonly string[], depth = 0): Generator<Frame> {
  const name = path[depth];
  if (name === undefined) {
    yield frame;
    return;
  }
  const value: FieldValue | undefined = Object.hasOwn(frame.record, name)
    ? frame.record[name]
    : undefined;
  const fields = frame.fields.get(name)?.fields ?? noFields;
  const inner = (record: FieldRecord, index?: number): Frame => ({
    record,
    fields,
    outer: frame,
    name,
    index,
  });
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      if (isRecord(item)) yield* framesAt(inner(item, index), path, depth + 1);
  } else if (isRecord(value) && Object.keys(value).length > 0)
    yield* framesAt(inner(value), path, depth + 1);
}

/** `Items[3].Price` */
function placeOf(frame: Frame, name: string): string {
  let place = name;
  for (let at = frame; at.outer !== undefined; at = at.outer)
    place = `${at.name}${at.index === undefined ? '' : `[${at.index}]`}.${place}`;
  return place;
}

/** The overrides of a request, parsed. */
interface TemplateOverrides {
  readonly subjectLine?: TemplateOverride | undefined;
  readonly previewText?: TemplateOverride | undefined;
}

/** The names that need a value from the request, computed once per version. */
export function requiredNames(fields: readonly CompiledField[]): RequiredNames {
  const used = (...parts: readonly FieldPart[]): string[] =>
    fields
      .filter(
        (field) =>
          field.default === undefined &&
          !builtInFields.has(field.name) &&
          parts.some((part) => field.parts.includes(part)),
      )
      .map(({ name }) => name);
  return { subject: used('subject'), previewText: used('previewText'), body: used('html', 'text') };
}

/**
 * The required fields for which the map has no own key, in template order, then the places in items that lack a value,
 * such as `Items[3].Price`; empty if the message can be sent. An empty string counts as a value.
 */
export function missingFields(
  template: CompiledTemplate,
  values: GivenValues,
  overrides: TemplateOverrides = {},
): string[] {
  const { body, subject, previewText } = template.required;
  const names = [
    body,
    requiredOf(template, subject, overrides.subjectLine),
    requiredOf(template, previewText, overrides.previewText),
  ].flatMap((part) => part.filter((name) => !Object.hasOwn(values, name)));
  // Most requests lack none.
  const missing = names.length === 0 ? names : [...new Set(names)];
  const uses = usesOf(template, overrides);
  return uses.length === 0 ? missing : [...missing, ...missingItemFields(uses, values)];
}

/** The values that a helper can't read, by their place in the map. */
export function findUnreadable(
  template: CompiledTemplate,
  fields: FieldIndex,
  values: GivenValues,
  overrides: TemplateOverrides = {},
): { readonly place: string; readonly format: FieldFormat }[] {
  const uses = usesOf(template, overrides);
  return uses.length === 0 ? [] : unreadableValues(uses, fields, values);
}

/** Uses of the parts that a message is made of. */
function usesOf(
  { uses }: CompiledTemplate,
  { subjectLine, previewText }: TemplateOverrides,
): readonly FieldUses[] {
  if (uses === undefined && subjectLine?.uses === undefined && previewText?.uses === undefined)
    return [];
  return [
    uses?.body,
    subjectLine === undefined ? uses?.subject : subjectLine.uses,
    previewText === undefined ? uses?.previewText : previewText.uses,
  ].filter((part) => part !== undefined);
}

function requiredOf(
  template: CompiledTemplate,
  own: readonly string[],
  override: TemplateOverride | undefined,
): readonly string[] {
  if (override === undefined) return own;
  return override.fields.filter((name) => {
    const field = template.fields.find((candidate) => candidate.name === name);
    return field?.default === undefined && !builtInFields.has(name);
  });
}
