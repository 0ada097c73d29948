/** Remembers answers, also that there is none, for some seconds: for look-ups on the way of each message. */
export class BriefMemory<Value> {
  readonly #milliseconds: number;
  readonly #most: number;
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>();

  constructor(milliseconds: number, most = 10_000) {
    this.#milliseconds = milliseconds;
    this.#most = most;
  }

  /** The answer from memory, or else asked for now. */
  async get(key: string, ask: () => Promise<Value>): Promise<Value> {
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > performance.now()) return known.value;
    const value = await ask();
    if (this.#entries.size >= this.#most) this.#entries.clear();
    this.#entries.set(key, { value, until: performance.now() + this.#milliseconds });
    return value;
  }
}
