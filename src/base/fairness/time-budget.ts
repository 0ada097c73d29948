/** Time shared by all queries of one page. */
export class TimeBudget {
  readonly #budgetMs: number;
  readonly #started = performance.now();
  #ended = this.#started;

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs;
  }

  /** Call after each query: true if another one as long as this would exceed the budget. */
  isExpired(): boolean {
    const now = performance.now();
    const took = now - this.#ended;
    this.#ended = now;
    return now - this.#started + took >= this.#budgetMs;
  }
}
