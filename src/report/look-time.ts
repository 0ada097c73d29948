/** The time that the looks of one page have together. */
export class LookTime {
  readonly #milliseconds: number;
  readonly #started = performance.now();
  #ended = this.#started;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /** To be asked at the end of each look: whether a further one would be late, if it takes as long as this one. */
  isOver(): boolean {
    const now = performance.now();
    const took = now - this.#ended;
    this.#ended = now;
    return now - this.#started + took >= this.#milliseconds;
  }
}
