import { builtInFields } from './built-in-fields.ts';
import { type FieldIndex, noFields } from './field-index.ts';
import {
  type FieldRecord,
  type FieldValue,
  type GivenValues,
  recordsOf,
  textOfValue,
} from './field-value.ts';

/** Finds values by name: those of the request, or those of an item in front of what is outside of it. */
export interface ValueScope {
  /** The text of a field, its line breaks normalized. */
  text(name: string): string;
  /** What a list's or object's section is repeated for. */
  records(name: string): readonly FieldRecord[];
  /** The scope of an item of a list, or of an object. */
  enter(name: string, record: FieldRecord): ValueScope;
}

/** The values of a message, with the defaults of its template. */
export function openScope(fields: FieldIndex, given: GivenValues): ValueScope {
  return new RecordScope(fields, given, undefined);
}

class RecordScope implements ValueScope {
  readonly #fields: FieldIndex;
  readonly #record: GivenValues;
  readonly #outer: RecordScope | undefined;

  constructor(fields: FieldIndex, record: GivenValues, outer: RecordScope | undefined) {
    this.#fields = fields;
    this.#record = record;
    this.#outer = outer;
  }

  text(name: string): string {
    if (this.#outer !== undefined && builtInFields.has(name)) return this.#outer.text(name);
    const value = this.#own(name);
    return value === undefined && this.#outer !== undefined
      ? this.#outer.text(name)
      : textOfValue(value);
  }

  records(name: string): readonly FieldRecord[] {
    return recordsOf(this.#own(name));
  }

  enter(name: string, record: FieldRecord): ValueScope {
    return new RecordScope(this.#fields.get(name)?.fields ?? noFields, record, this);
  }

  #own(name: string): FieldValue | undefined {
    // Own properties only: `constructor` is an ordinary field name.
    return Object.hasOwn(this.#record, name) ? this.#record[name] : this.#fields.get(name)?.default;
  }
}
