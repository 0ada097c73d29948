/** The time that the looks of one page have together. */
export class TimeBudget {
  readonly #budgetMs: number;
  readonly #started = performance.now();
  #ended = this.#started;

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs;
  }

  /** To be asked at the end of each look: whether a further one would be late, if it takes as long as this one. */
  isExpired(): boolean {
    const now = performance.now();
    const took = now - this.#ended;
    this.#ended = now;
    return now - this.#started + took >= this.#budgetMs;
  }
}
