import { builtInFields } from './built-in-fields.ts';
import { type FieldIndex, noFields } from './field-index.ts';
import {
  type FieldRecord,
  type FieldValue,
  type GivenValues,
  normalizeValue,
  recordsOf,
  textOfValue,
} from './field-value.ts';

/** A function that reads each text once. What it has read lasts as long as the function itself. */
export function rememberEach<Result>(read: (text: string) => Result): (text: string) => Result {
  // Created on demand: many of these functions are never called.
  let known: Map<string, Result> | undefined;
  return (text) => {
    known ??= new Map();
    const result = known.get(text);
    if (result !== undefined || known.has(text)) return result as Result;
    const fresh = read(text);
    known.set(text, fresh);
    return fresh;
  };
}

/** Normalizing fewer characters costs no more than looking them up. */
const minRememberedLength = 256;

/** The values of a message, with the defaults of its template. */
export function openScope(fields: FieldIndex, given: GivenValues): ValueScope {
  return new ValueScope(fields, given, undefined, rememberEach(normalizeValue));
}

/** Finds values by name: those of the request, or those of an item in front of what is outside of it. */
class ValueScope {
  readonly #fields: FieldIndex;
  readonly #record: GivenValues;
  readonly #outer: ValueScope | undefined;
  /** Of the whole message: a section asks for a text again for each item, without adding a byte to what is rendered. */
  readonly #normalize: (value: string) => string;

  constructor(
    fields: FieldIndex,
    record: GivenValues,
    outer: ValueScope | undefined,
    normalize: (value: string) => string,
  ) {
    this.#fields = fields;
    this.#record = record;
    this.#outer = outer;
    this.#normalize = normalize;
  }

  /** The text of a field, its line breaks normalized. */
  text(name: string): string {
    if (this.#outer !== undefined && builtInFields.has(name)) return this.#outer.text(name);
    const value = this.#own(name);
    if (value === undefined && this.#outer !== undefined) return this.#outer.text(name);
    return typeof value === 'string' && value.length >= minRememberedLength
      ? this.#normalize(value)
      : textOfValue(value);
  }

  /** What a list's or object's section is repeated for. */
  records(name: string): readonly FieldRecord[] {
    return recordsOf(this.#own(name));
  }

  /** The scope of an item of a list, or of an object. */
  enter(name: string, record: FieldRecord): ValueScope {
    return new ValueScope(
      this.#fields.get(name)?.fields ?? noFields,
      record,
      this,
      this.#normalize,
    );
  }

  #own(name: string): FieldValue | undefined {
    // Own properties only: `constructor` is an ordinary field name.
    return Object.hasOwn(this.#record, name) ? this.#record[name] : this.#fields.get(name)?.default;
  }
}

export type { ValueScope };
