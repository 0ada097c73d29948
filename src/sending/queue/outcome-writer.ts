import { setTimeout as delay } from 'node:timers/promises';
import { GroupCommit } from '../../base/database/group-commit.ts';
import type { Log } from '../../base/values/log.ts';
import type { LeaseStore } from './lease-store.ts';
import type { Completion } from './settle-attempt.ts';

const minBackoffMs = 100;
const maxBackoffMs = 2_000;

/**
 * Writes outcomes in batches and retries while the database is unavailable, so a receiver's reply is not lost while
 * this process lives.
 */
export class OutcomeWriter {
  readonly #leases: LeaseStore;
  readonly #log: Log;
  readonly #group: GroupCommit<Completion, boolean>;
  readonly #giveUp = new AbortController();
  #failing = false;

  constructor(leases: LeaseStore, log: Log) {
    this.#leases = leases;
    this.#log = log;
    this.#group = new GroupCommit((completions) => this.#write(completions), {
      max: 200,
      concurrency: 1,
      waiting: Number.POSITIVE_INFINITY,
      // Only slots wait for these, so a short delay is fine.
      linger: { quietTurns: 20, maxMs: 20 },
    });
  }

  /** True while the database can't take outcomes; no new work should start. */
  get failing(): boolean {
    return this.#failing;
  }

  /** @returns false if the lease was lost and nothing was written */
  async write(completion: Completion): Promise<boolean> {
    return (await this.#group.add(completion)) ?? false;
  }

  /** Stops waiting for an unavailable database. The messages become due again when their leases expire. */
  stop(): void {
    this.#giveUp.abort();
  }

  async #write(completions: readonly Completion[]): Promise<boolean[]> {
    for (let backoffMs = minBackoffMs; ; backoffMs = Math.min(backoffMs * 2, maxBackoffMs)) {
      try {
        const written = await this.#leases.complete(completions);
        this.#failing = false;
        return written;
      } catch (error) {
        if (this.#giveUp.signal.aborted) return completions.map(() => false);
        const isolated = await this.#isolate(completions, error);
        if (isolated !== false) return isolated;
        if (!this.#failing) this.#log.warn({ err: error }, 'could not write outcomes; retrying');
        this.#failing = true;
        await delay(backoffMs, undefined, { signal: this.#giveUp.signal }).catch(() => undefined);
      }
    }
  }

  /** Writes each outcome separately so that bad data in one row blocks neither the others nor all further work. */
  async #isolate(completions: readonly Completion[], error: unknown): Promise<boolean[] | false> {
    if (!isDataError(error)) return false;
    const written: boolean[] = [];
    for (const completion of completions) {
      const [isWritten] = await this.#leases.complete([completion]).catch((cause: unknown) => {
        this.#log.error(
          { err: cause, messageId: completion.message.messageId },
          'could not write an outcome; the message is retried when its lease expires',
        );
        return [false];
      });
      written.push(isWritten ?? false);
    }
    return written;
  }
}

/** SQLSTATE classes 21, 22 and 23: the data is at fault, not the server. */
function isDataError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^2[123]/.test(code);
}
