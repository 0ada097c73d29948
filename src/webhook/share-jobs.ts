import { EventEmitter } from 'node:events';
import type { WorkerEvents } from 'graphile-worker';
import { FairCapacity } from '../foundation/fair-capacity.ts';

/** A worker that never says what came of its search holds up the others no longer than this. */
const maxSearchMs = 10_000;

/**
 * Shares the workers of a process between accounts: jobs carry their account as a flag, and a worker that looks for a job
 * passes over the accounts that have their share. Workers look one after the other, so that each knows what the one before
 * it found; else all that are idle would take jobs of one account at once.
 */
export class JobShares {
  /** To be given to the runner. */
  readonly events: WorkerEvents = new EventEmitter();
  readonly #places: FairCapacity;
  readonly #waiting: (() => void)[] = [];
  #searching = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(workers: number) {
    this.#places = new FairCapacity(workers);
    this.events.on('worker:getJob:empty', () => this.#endSearch());
    this.events.on('worker:getJob:error', () => this.#endSearch());
    this.events.on('job:start', ({ job }) => {
      this.#places.acquire(accountIn(job.payload));
      this.#endSearch();
    });
    this.events.on('job:complete', ({ job }) => this.#places.release(accountIn(job.payload)));
  }

  /** What a worker that looks for a job passes over; resolves when it is its turn to look. */
  readonly forbiddenFlags = async (): Promise<string[]> => {
    if (this.#searching) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#searching = true;
    this.#timer = setTimeout(() => this.#endSearch(), maxSearchMs);
    this.#timer.unref();
    return this.#places.atLimit.map(flagOf);
  };

  #endSearch(): void {
    clearTimeout(this.#timer);
    this.#searching = false;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    // Nobody else may begin before the next one does.
    this.#searching = true;
    next();
  }
}

/** As the jobs are marked. */
function flagOf(account: string): string {
  return `account ${account}`;
}

function accountIn(payload: unknown): string {
  return String((payload as { readonly accountId?: unknown }).accountId);
}
