import type { Clock } from '../foundation/clock.ts';
import { isUnavailable } from '../foundation/database/sqlstate.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { AccountRing } from './account-ring.ts';
import { advanceAttempt } from './advance-attempt.ts';
import type { Attempt, AttemptReport, ClaimedMessage, RecipientResult } from './attempt.ts';
import { claimSize } from './claim-size.ts';
import { LeaseKeeper, type Leases } from './lease-keeper.ts';
import { type Outcomes, OutcomeWriter } from './outcome-writer.ts';
import { settleAttempt, type Written } from './settle-attempt.ts';
import { WakeSignal } from './wake-signal.ts';

/** What the worker needs of the database. */
export interface WorkerStores {
  readonly claims: {
    findDueAccounts(): Promise<AccountId[]>;
    claim(accountId: AccountId, most: number): Promise<ClaimedMessage[]>;
    followClock(): Promise<number | undefined>;
  };
  readonly leases: Leases;
  readonly outcomes: Outcomes;
}

export interface WorkerOptions {
  /** Messages under way at the same time. */
  readonly slots: number;
  readonly leaseMilliseconds: number;
  /** How often other nodes' and retried messages are looked for. */
  readonly pollMilliseconds: number;
  /** How long a stop waits for what is being sent. */
  readonly graceMilliseconds: number;
}

export const defaultWorkerOptions: WorkerOptions = {
  slots: 100,
  leaseMilliseconds: 30_000,
  pollMilliseconds: 1_000,
  graceMilliseconds: 15_000,
};

export interface WorkerParts {
  readonly stores: WorkerStores;
  readonly attempt: Attempt;
  readonly clock: Clock;
  readonly log: Log;
  readonly options?: Partial<WorkerOptions>;
  /** Told about each outcome that was written. */
  readonly onWritten?: (written: Written) => void;
  /** Drops what is still on the wire when the grace of a stop is over. */
  readonly dropConnections?: () => void;
}

const longestBackoff = 5_000;
/** No account may have more than this part of the slots, so that a slow flood leaves room for the others. */
const largestShare = 0.75;
/** An account that has so many under way gets more only once there is room for so many: a claim costs more than its rows. */
const smallestRefill = 32;

/**
 * The loop that sends what is due: accounts take turns, each claim is one short statement, each message then goes its
 * way by itself. It is woken by `wake`, and by a short poll as the net between nodes.
 */
export class Worker {
  readonly #parts: WorkerParts;
  readonly #options: WorkerOptions;
  readonly #ring = new AccountRing();
  readonly #wake = new WakeSignal();
  readonly #keeper: LeaseKeeper;
  readonly #writer: OutcomeWriter;
  readonly #stopping = new AbortController();
  readonly #share = new Map<AccountId, number>();
  /** Accounts at their share that may have more. */
  readonly #full = new Set<AccountId>();
  #underWay = new Set<Promise<void>>();
  #loop: Promise<void> | undefined;
  #nextPoll = 0;
  #backoff = 0;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#options = { ...defaultWorkerOptions, ...parts.options };
    this.#keeper = new LeaseKeeper(parts.stores.leases, this.#options.leaseMilliseconds, parts.log);
    this.#writer = new OutcomeWriter(parts.stores.outcomes, parts.log);
  }

  /** Messages under way. */
  get busy(): number {
    return this.#underWay.size;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Says that an account has a message that is due now. */
  wake(accountId: AccountId): void {
    this.#ring.add(accountId);
    this.#wake.ring();
  }

  /** Claims no more, finishes what is being sent within the grace, and gives the other leases back. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.ring();
    await this.#loop;
    const finished = Promise.all(this.#underWay);
    const dropping = setTimeout(() => {
      this.#writer.stop();
      this.#parts.dropConnections?.();
    }, this.#options.graceMilliseconds);
    await finished;
    clearTimeout(dropping);
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        const worked = await this.#turn();
        this.#backoff = 0;
        if (!worked) await this.#wake.wait(Math.max(1, this.#nextPoll - performance.now()));
      } catch (error) {
        await this.#backOff(error);
      }
    }
  }

  /** One look for work. @returns false where there is nothing to do until the next wake-up or poll */
  async #turn(): Promise<boolean> {
    const free = this.#options.slots - this.#underWay.size;
    if (free <= 0 || this.#writer.failing) {
      await this.#wake.wait(100);
      return true;
    }
    // A claim for a few slots costs as much as one for many: a busy worker waits a moment until more are free.
    if (free < this.#options.slots * (1 - largestShare)) await this.#wake.wait(5);
    if (performance.now() >= this.#nextPoll) await this.#poll();
    const accountId = this.#ring.next();
    if (accountId === undefined) return false;
    await this.#claim(accountId, free);
    return true;
  }

  async #poll(): Promise<void> {
    const { claims } = this.#parts.stores;
    const moved = await claims.followClock();
    if (moved !== undefined)
      this.#parts.log.warn({ moved }, 'the database’s clock was set back; what waits is due now');
    const accounts = await claims.findDueAccounts();
    for (const accountId of accounts) this.#ring.add(accountId);
    this.#nextPoll =
      performance.now() + this.#options.pollMilliseconds * (0.75 + Math.random() / 2);
  }

  async #claim(accountId: AccountId, free: number): Promise<void> {
    const most = this.#quota(accountId, free);
    const refill = Math.min(smallestRefill, Math.ceil(this.#most / 2));
    if (most <= 0 || (most < refill && this.#under(accountId) >= refill)) {
      this.#full.add(accountId);
      return;
    }
    let claimed: ClaimedMessage[];
    try {
      claimed = await this.#parts.stores.claims.claim(accountId, most);
    } catch (error) {
      if (isUnavailable(error)) this.#ring.add(accountId);
      throw error;
    }
    if (claimed.length === most) this.#ring.add(accountId);
    for (const message of claimed) this.#begin(message);
  }

  #quota(accountId: AccountId, free: number): number {
    const turn = Math.ceil(free / (this.#ring.size + 1));
    const room = Math.min(turn, this.#most - this.#under(accountId));
    return room <= 0 ? 0 : claimSize(room);
  }

  /** Most messages of one account under way. */
  get #most(): number {
    return Math.max(1, Math.floor(this.#options.slots * largestShare));
  }

  /** Messages of an account under way. */
  #under(accountId: AccountId): number {
    return this.#share.get(accountId) ?? 0;
  }

  #begin(message: ClaimedMessage): void {
    const { accountId } = message;
    this.#share.set(accountId, this.#under(accountId) + 1);
    this.#keeper.hold(message);
    const done = this.#send(message).finally(() => {
      this.#keeper.drop(message);
      this.#underWay.delete(done);
      const left = (this.#share.get(accountId) ?? 1) - 1;
      if (left > 0) this.#share.set(accountId, left);
      else this.#share.delete(accountId);
      if (this.#full.delete(accountId)) this.#ring.add(accountId);
      if (this.#ring.size > 0 || this.#stopping.signal.aborted) this.#wake.ring();
    });
    this.#underWay.add(done);
  }

  async #send(message: ClaimedMessage): Promise<void> {
    const { log, attempt, onWritten } = this.#parts;
    const about = { messageId: message.messageId, attempt: message.attempt };
    let report: AttemptReport | undefined;
    try {
      report = await attempt(message, {
        markDot: () => this.#keeper.markDot(message),
        advance: (results, next) => this.#advance(message, results, next),
        stopping: this.#stopping.signal,
      });
    } catch (error) {
      log.error({ err: error, ...about }, 'an attempt failed by a fault of ours');
      report = { results: message.pending.map(asFault), notes: [] };
    }
    if (report === undefined) {
      log.info(about, 'lost the lease; another worker has the message');
      return;
    }
    const completion = settleAttempt(message, report, Math.random());
    if (await this.#writer.write(completion)) onWritten?.(completion);
    else log.warn(about, 'the lease was lost before the outcome was written');
  }

  async #advance(
    message: ClaimedMessage,
    results: readonly RecipientResult[],
    next: readonly number[],
  ): Promise<readonly RecipientResult[] | undefined> {
    const advance = advanceAttempt(message, results, next);
    if (!(await this.#parts.stores.leases.advance(advance))) return undefined;
    message.pending = advance.pending;
    this.#parts.onWritten?.(advance);
    return advance.left;
  }

  async #backOff(error: unknown): Promise<void> {
    const { log } = this.#parts;
    if (this.#backoff === 0) log.warn({ err: error }, 'the queue cannot be read; trying on');
    this.#backoff = Math.min(Math.max(this.#backoff * 2, 100), longestBackoff);
    const until = performance.now() + this.#backoff * (0.5 + Math.random() / 2);
    while (performance.now() < until && !this.#stopping.signal.aborted) {
      await this.#wake.wait(Math.max(1, until - performance.now()));
    }
  }
}

function asFault(recipient: number): AttemptReport['results'][number] {
  return {
    recipient,
    outcome: 'deferred',
    reason: 'a fault in this service stopped the attempt',
    retry: 'ordinary',
  };
}
