import { GroupCommit } from '../../base/database/group-commit.ts';
import type { Log } from '../../base/values/log.ts';
import type { ClaimedMessage } from './attempt.ts';
import type { LeaseStore } from './lease-store.ts';

/** Renews the leases of messages in flight and grants final dots. */
export class LeaseKeeper {
  readonly #leases: LeaseStore;
  readonly #log: Log;
  readonly #held = new Set<ClaimedMessage>();
  readonly #dots: GroupCommit<ClaimedMessage, boolean>;
  readonly #renewIntervalMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(leases: LeaseStore, leaseMs: number, log: Log) {
    this.#leases = leases;
    this.#log = log;
    this.#renewIntervalMs = leaseMs / 3;
    this.#dots = new GroupCommit((messages) => leases.markDots(messages), {
      max: 200,
      // One at a time, so that requests queue up into larger batches: a statement costs more than its rows.
      concurrency: 1,
      waiting: Number.POSITIVE_INFINITY,
      linger: { quietTurns: 5, maxMs: 5 },
    });
  }

  hold(message: ClaimedMessage): void {
    this.#held.add(message);
    this.#timer ??= setInterval(() => void this.#renew(), this.#renewIntervalMs);
  }

  drop(message: ClaimedMessage): void {
    this.#held.delete(message);
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Requests permission to send a message's final dot: a fenced, flushed write, batched across connections.
   * @returns false if the lease was lost, or expired while this process was suspended after the database replied; the
   *   dot must not be sent
   * @throws if the database doesn't respond; the dot must not be sent, but the lease may still be held
   */
  async markDot(message: ClaimedMessage): Promise<boolean> {
    const granted = await this.#dots.add(message);
    return granted === true && performance.now() < message.leaseEndsAt;
  }

  async #renew(): Promise<void> {
    const renewBefore = performance.now() + 2 * this.#renewIntervalMs;
    const ending = [...this.#held].filter((message) => message.leaseEndsAt < renewBefore);
    if (ending.length === 0) return;
    await this.#leases.renew(ending).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'could not renew leases; retrying');
    });
  }
}
