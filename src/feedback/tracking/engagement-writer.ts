import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../foundation/log.ts';
import type { Engagement } from './engagement.ts';
import { findBursts } from './find-bursts.ts';

/** Opens and clicks wait so long for those that come with them, which shows bursts. */
const holdMilliseconds = 2_500;
const mostPerBatch = 500;
/** Past it the oldest go: a database that is away for long must not take the memory. */
const mostWaiting = 200_000;
const retryMilliseconds = 1_000;

export interface EngagementWriterOptions {
  readonly write: (items: readonly Engagement[]) => Promise<void>;
  readonly log: Log;
  readonly holdMilliseconds?: number;
}

/**
 * Takes opens and clicks without waiting for anything and writes them in batches; a failed batch is tried until the
 * database takes it. `stop` writes what waits, so an orderly stop loses none.
 */
export class EngagementWriter {
  readonly #options: EngagementWriterOptions;
  readonly #hold: number;
  #waiting: Engagement[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #dropped = 0;
  #stopping = false;

  constructor(options: EngagementWriterOptions) {
    this.#options = options;
    this.#hold = options.holdMilliseconds ?? holdMilliseconds;
  }

  /** Adds one; never throws and never waits. */
  add(item: Engagement): void {
    if (this.#waiting.length >= mostWaiting) {
      this.#waiting.splice(0, mostPerBatch);
      this.#dropped += mostPerBatch;
    }
    this.#waiting.push(item);
    this.#schedule();
  }

  /** Writes what waits; gives up after some seconds without a database and says how many were lost. */
  async stop(milliseconds = 10_000): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const deadline = performance.now() + milliseconds;
    while (this.#waiting.length > 0 && performance.now() < deadline) {
      await this.#writing;
      await this.#flush();
      if (this.#waiting.length > 0) await delay(100);
    }
    await this.#writing;
    if (this.#waiting.length > 0)
      this.#options.log.error(
        { lost: this.#waiting.length },
        'opens and clicks were lost at the stop',
      );
  }

  #schedule(after = this.#hold): void {
    if (this.#timer !== undefined || this.#stopping) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#flush();
    }, after);
    this.#timer.unref();
  }

  async #flush(): Promise<void> {
    const items = findBursts(this.#waiting.splice(0));
    for (let from = 0; from < items.length; from += mostPerBatch) {
      try {
        await this.#options.write(items.slice(from, from + mostPerBatch));
      } catch (error) {
        this.#options.log.warn({ err: error }, 'opens and clicks cannot be written; trying on');
        this.#waiting = [...items.slice(from), ...this.#waiting];
        this.#schedule(retryMilliseconds);
        return;
      }
    }
    if (this.#dropped > 0) {
      this.#options.log.error(
        { lost: this.#dropped },
        'opens and clicks were lost while the database was away',
      );
      this.#dropped = 0;
    }
  }
}
