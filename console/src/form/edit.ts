import { EditConflict } from '../api/if-unchanged.ts';

/** What one save sends. */
export interface SentEdit<Stored, Values> {
  readonly values: Values;
  /** The values before they were edited. */
  readonly seen: Values;
  /** The resource that they were read from. */
  readonly stored: Stored;
}

/** Sends an edit. @returns what is stored now */
export type SendEdit<Stored, Values> = (sent: SentEdit<Stored, Values>) => Promise<Stored>;

/**
 * The edit of a stored resource. What was typed changes only by typing: neither a reload of the resource nor the end of a save,
 * which counts as saved what it sent, touches other fields.
 */
export class Edit<Stored, Values extends object> {
  readonly #toValues: (stored: Stored) => Values;
  readonly #onChange: () => void;
  /** As the page read it last. */
  #latest: Stored;
  /** The `#latest` that the values take into account. */
  #followed: Stored;
  #stored: Stored;
  #seen: Values;
  #values: Values;
  #saving: Promise<Stored> | undefined;
  #error: unknown = null;

  constructor(stored: Stored, toValues: (stored: Stored) => Values, onChange: () => void) {
    this.#toValues = toValues;
    this.#onChange = onChange;
    this.#latest = stored;
    this.#followed = stored;
    this.#stored = stored;
    this.#seen = toValues(stored);
    this.#values = this.#seen;
  }

  get values(): Values {
    return this.#values;
  }

  get stored(): Stored {
    return this.#stored;
  }

  get isSaving(): boolean {
    return this.#saving !== undefined;
  }

  /** Why the last save failed; null if it didn't. */
  get error(): unknown {
    return this.#error;
  }

  readonly isChanged = (): boolean => !isSame(this.#seen, this.#values);

  /** Takes over what the page has read, unless something is typed: its save shows what changed. */
  follow(stored: Stored): void {
    this.#latest = stored;
    if (isSame(stored, this.#followed) || this.isSaving || this.isChanged()) return;
    this.#start(stored);
  }

  readonly change = (change: Partial<Values> | ((values: Values) => Values)): void => {
    this.#values =
      typeof change === 'function' ? change(this.#values) : { ...this.#values, ...change };
    this.#onChange();
  };

  /** Discards what was typed. */
  readonly reset = (): void => {
    this.#error = null;
    if (isSame(this.#latest, this.#followed)) this.#values = this.#seen;
    else this.#start(this.#latest);
    this.#onChange();
  };

  /** Saves once at a time: a call during a save waits for it, and then sends only what was typed since. */
  async save(send: SendEdit<Stored, Values>): Promise<Stored> {
    const waits = this.isSaving;
    while (this.#saving !== undefined) await this.#saving;
    if (waits && !this.isChanged()) return this.#stored;
    this.#error = null;
    this.#saving = this.#send(send).finally(() => {
      this.#saving = undefined;
      this.#onChange();
    });
    this.#onChange();
    return this.#saving;
  }

  async #send(send: SendEdit<Stored, Values>): Promise<Stored> {
    const sent = { values: this.#values, seen: this.#seen, stored: this.#stored };
    try {
      const stored = await send(sent);
      this.#rebase(sent.values, stored);
      return stored;
    } catch (error) {
      // Fields that weren't edited take the current values; saving again overwrites the others deliberately.
      if (error instanceof EditConflict) this.#rebase(sent.seen, error.current as Stored);
      this.#error = error;
      throw error;
    }
  }

  #start(stored: Stored): void {
    this.#followed = stored;
    this.#stored = stored;
    this.#seen = this.#toValues(stored);
    this.#values = this.#seen;
  }

  #rebase(base: Values, stored: Stored): void {
    const edited = editedFields(base, this.#values);
    this.#followed = this.#latest;
    this.#stored = stored;
    this.#seen = this.#toValues(stored);
    this.#values = { ...this.#seen, ...edited };
  }
}

/** The fields whose values differ, with their new values. */
export function editedFields<Values extends object>(seen: Values, values: Values): Partial<Values> {
  const names = Object.keys({ ...seen, ...values }) as (keyof Values)[];
  const edited = names.filter((name) => !isSame(seen[name], values[name]));
  return Object.fromEntries(edited.map((name) => [name, values[name]])) as Partial<Values>;
}

/** Compares by value; members that are the same object aren't read, because contents can be large. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  return Object.keys({ ...one, ...other }).every((name) =>
    isSame(one[name as keyof object], other[name as keyof object]),
  );
}
