import { EventEmitter } from 'node:events';
import type { WorkerEvents } from 'graphile-worker';
import { FairCapacity } from '../foundation/fair-capacity.ts';

/** How long a worker that never reports its search result can block the others. */
const maxSearchMs = 10_000;

/**
 * Shares a process's workers fairly between accounts: jobs are flagged with their account, and workers skip accounts at
 * their share. Searches run one at a time, so that idle workers don't all take jobs from the same account.
 */
export class JobShares {
  /** Pass this to the runner. */
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

  /** Accounts for a searching worker to skip; resolves when it is this worker's turn to search. */
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
    // Keep the turn reserved until the next worker starts.
    this.#searching = true;
    next();
  }
}

function flagOf(account: string): string {
  return `account ${account}`;
}

function accountIn(payload: unknown): string {
  return String((payload as { readonly accountId?: unknown }).accountId);
}
