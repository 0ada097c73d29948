import {
  StructureChecker,
  type StructureProblem,
} from '../../../content/template/check-structures.ts';
import type { CompileResult } from '../../../content/template/compile-source.ts';
import type {
  CompiledField,
  CompiledTemplate,
  FormattedField,
} from '../../../content/template/compiled-template.ts';
import { describeReadable, exampleFor } from '../../../content/template/field-format.ts';
import { indexFields } from '../../../content/template/field-index.ts';
import {
  type FieldRecord,
  type FieldValue,
  type GivenValues,
  isRecord,
  recordsOf,
} from '../../../content/template/field-value.ts';
import { guardsOf, isGuardable, targetReason } from '../../../content/template/guarded-field.ts';
import { findUnreadable } from '../../../content/template/template-fields.ts';
import type { ItemFieldSettings } from '../../../content/template/template-source.ts';
import { invalidField } from '../answer/problem.ts';
import type { VersionContent } from './template-views.ts';

/** Max UTF-8 bytes of all names and values, the same as a send request body. */
export const maxValueBytes = 256 * 1024;

/** Items of a list that has no sample; two show what is between them. */
const sampleItems = 2;

/**
 * What is filled in for one template at most: characters, and what items and fields cost beside theirs. Each level of lists
 * multiplies the samples of the levels inside it.
 */
const maxFilled = 1024 * 1024;
const itemCost = 100;
const fieldCost = 20;

/** The target of guarded links in samples and test messages. */
const exampleTarget = 'https://example.com/confirm';

type Settings = Readonly<Record<string, ItemFieldSettings>>;

/**
 * Fills in a value for every field, those of items included, so a preview has no gaps.
 * @param missing the value of a field that has no sample
 */
export function sampleValues(
  { fields, compiled }: Pick<CompileResult, 'fields' | 'compiled'>,
  content: VersionContent,
  given: GivenValues = {},
  missing: (name: string) => string = (name) => name,
): Record<string, FieldValue> {
  const parts = Object.values(compiled?.uses ?? {});
  const guards = guardsOf(content.fields ?? {}) ?? {};
  const sampler = new Sampler(
    parts.flatMap(({ formatted }) => formatted),
    given,
    (name) => (Object.hasOwn(guards, name) ? exampleTarget : missing(name)),
  );
  return { ...sampler.fill(fields, content.fields ?? {}, given, []) };
}

class Sampler {
  readonly #formatted: readonly FormattedField[];
  readonly #given: GivenValues;
  readonly #missing: (name: string) => string;
  #filled = 0;

  constructor(
    formatted: readonly FormattedField[],
    given: GivenValues,
    missing: (name: string) => string,
  ) {
    this.#formatted = formatted;
    this.#given = given;
    this.#missing = missing;
  }

  /** The values with a sample of each field that they lack, as long as not too much is filled in. */
  fill(
    fields: readonly CompiledField[],
    settings: Settings,
    values: GivenValues,
    path: readonly string[],
  ): FieldRecord {
    this.#filled += itemCost;
    if (this.#filled > maxFilled) return values;
    const settingsByName = new Map(Object.entries(settings));
    const filled = fields
      .filter(({ name, outside }) => !(outside === true && Object.hasOwn(this.#given, name)))
      .map((field): [string, FieldValue] => {
        const { name } = field;
        this.#filled += fieldCost;
        const own = settingsByName.get(name) ?? {};
        const value = Object.hasOwn(values, name) ? values[name] : undefined;
        return [
          name,
          value === undefined
            ? this.#sampleOf(field, own, path)
            : this.#complete(field, own, value, path),
        ];
      });
    return { ...Object.fromEntries(filled), ...withoutNames(values, filled) };
  }

  #sampleOf(field: CompiledField, own: ItemFieldSettings, path: readonly string[]): FieldValue {
    const { name, kind, fields = [] } = field;
    const sample = own.sample ?? own.default;
    if (kind === undefined) {
      const text = sample ?? this.#exampleOf(name, path) ?? this.#missing(name);
      if (typeof text === 'string') this.#filled += text.length;
      return text;
    }
    if (sample !== undefined && recordsOf(sample).length > 0)
      return this.#complete(field, own, sample, path);
    const record = this.fill(fields, own.fields ?? {}, {}, [...path, name]);
    return kind === 'object' ? record : Array.from({ length: sampleItems }, () => record);
  }

  /** A list or object whose items lack nothing. */
  #complete(
    { name, kind, fields = [] }: CompiledField,
    own: ItemFieldSettings,
    value: FieldValue,
    path: readonly string[],
  ): FieldValue {
    if (kind === undefined || typeof value === 'string' || this.#filled > maxFilled) return value;
    const fill = (record: FieldRecord): FieldRecord =>
      this.fill(fields, own.fields ?? {}, record, [...path, name]);
    if (Array.isArray(value)) return value.map((item) => (isRecord(item) ? fill(item) : item));
    return isRecord(value) && Object.keys(value).length > 0 ? fill(value) : value;
  }

  /** What a helper that shows the field can read. */
  #exampleOf(name: string, path: readonly string[]): string | undefined {
    const use = this.#formatted.find(
      (one) => one.name === name && path.every((step, depth) => one.path[depth] === step),
    );
    return use && exampleFor(use.format);
  }
}

function withoutNames(
  values: GivenValues,
  names: readonly (readonly [string, FieldValue])[],
): GivenValues {
  const filled = new Set(names.map(([name]) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !filled.has(name)));
}

/** Values of a test or preview that the send operation would refuse. */
export function findValueProblems(
  compiled: CompiledTemplate,
  values: GivenValues,
): StructureProblem[] {
  const index = indexFields(compiled.fields);
  const checker = new StructureChecker();
  const texts: StructureProblem[] = [];
  for (const [name, value] of Object.entries(values)) {
    const field = index.get(name);
    if (field !== undefined && field.kind !== 'text') checker.check(name, field, value);
    else if (typeof value !== 'string') texts.push({ place: name, reason: 'must be a string' });
    else if (Object.hasOwn(compiled.guards ?? {}, name) && !isGuardable(value))
      texts.push({ place: name, reason: targetReason });
  }
  const problems = [...texts, ...checker.problems];
  if (problems.length > 0) return problems;
  return findUnreadable(compiled, index, values).map(({ place, format }) => ({
    place,
    reason: `must be ${describeReadable(format)}`,
  }));
}

/**
 * Rejects values too large for any message.
 * @throws Problem that names the largest one
 */
export function requireSendableValues(values: GivenValues = {}): void {
  let total = 0;
  let largest = { name: '', bytes: 0 };
  for (const [name, value] of Object.entries(values)) {
    const bytes = Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
    total += bytes + Buffer.byteLength(name);
    if (bytes > largest.bytes) largest = { name, bytes };
  }
  if (total <= maxValueBytes) return;
  throw invalidField(
    `values.${largest.name.slice(0, 120).toWellFormed()}`,
    `has ${largest.bytes} bytes; the limit for all values together is ${maxValueBytes}`,
  );
}
