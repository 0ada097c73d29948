import type { Clock } from '../foundation/clock.ts';
import { isUnavailable } from '../foundation/database/sqlstate.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { AccountRing } from './account-ring.ts';
import { advanceAttempt } from './advance-attempt.ts';
import {
  type Attempt,
  type AttemptResult,
  attemptLogFields,
  type ClaimedMessage,
  type RecipientResult,
} from './attempt.ts';
import { claimSize } from './claim-size.ts';
import { LeaseKeeper, type Leases } from './lease-keeper.ts';
import { type Outcomes, OutcomeWriter } from './outcome-writer.ts';
import { type RecordedEvents, settleAttempt } from './settle-attempt.ts';
import { WakeSignal } from './wake-signal.ts';

/** Database access the worker needs. */
interface WorkerStores {
  readonly claims: {
    findDueAccounts(): Promise<AccountId[]>;
    claim(accountId: AccountId, max: number): Promise<ClaimedMessage[]>;
    checkClock(): Promise<number | undefined>;
  };
  readonly leases: Leases;
  readonly outcomes: Outcomes;
}

export interface WorkerOptions {
  /** Max messages in flight. */
  readonly slots: number;
  readonly leaseMs: number;
  /** How often to poll for messages from other nodes and due retries. */
  readonly pollMs: number;
  /** How long a stop waits for messages in flight. */
  readonly graceMs: number;
}

export const defaultWorkerOptions: WorkerOptions = {
  slots: 100,
  leaseMs: 30_000,
  pollMs: 1_000,
  graceMs: 15_000,
};

export interface WorkerDependencies {
  readonly stores: WorkerStores;
  readonly attempt: Attempt;
  readonly clock: Clock;
  readonly log: Log;
  readonly options?: Partial<WorkerOptions>;
  /** Called for each recorded outcome. */
  readonly onRecorded?: (recorded: RecordedEvents) => void;
  /** Drops open connections when the grace period of a stop ends. */
  readonly dropConnections?: () => void;
}

const maxBackoffMs = 5_000;
/** Max share of the slots for one account, so a slow flood leaves room for others. */
const maxSlotShare = 0.75;
/**
 * Once an account has this many in flight, it refills only in batches of at least this size, since a claim costs more
 * than its rows.
 */
const minRefill = 32;

/**
 * The loop that sends due messages. Accounts take turns; each claim is one short statement, and messages are then sent
 * independently. `wake` triggers it, and a short poll catches work from other nodes.
 */
export class Worker {
  readonly #dependencies: WorkerDependencies;
  readonly #options: WorkerOptions;
  readonly #ring = new AccountRing();
  readonly #wake = new WakeSignal();
  readonly #keeper: LeaseKeeper;
  readonly #writer: OutcomeWriter;
  readonly #stopping = new AbortController();
  readonly #inFlightByAccount = new Map<AccountId, number>();
  /** Accounts at their limit that may have more due messages. */
  readonly #accountsAtLimit = new Set<AccountId>();
  #inFlight = new Set<Promise<void>>();
  #loop: Promise<void> | undefined;
  #nextPoll = 0;
  #backoff = 0;

  constructor(dependencies: WorkerDependencies) {
    this.#dependencies = dependencies;
    this.#options = { ...defaultWorkerOptions, ...dependencies.options };
    this.#keeper = new LeaseKeeper(
      dependencies.stores.leases,
      this.#options.leaseMs,
      dependencies.log,
    );
    this.#writer = new OutcomeWriter(dependencies.stores.outcomes, dependencies.log);
  }

  /** Messages in flight. */
  get busy(): number {
    return this.#inFlight.size;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Signals that an account has a message due now. */
  wake(accountId: AccountId): void {
    this.#ring.add(accountId);
    this.#wake.ring();
  }

  /** Stops claiming, finishes messages in flight within the grace period, and releases the remaining leases. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.ring();
    await this.#loop;
    const finished = Promise.all(this.#inFlight);
    const dropTimer = setTimeout(() => {
      this.#writer.stop();
      this.#dependencies.dropConnections?.();
    }, this.#options.graceMs);
    await finished;
    clearTimeout(dropTimer);
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        const worked = await this.#claimOnce();
        this.#backoff = 0;
        if (!worked) await this.#wake.wait(Math.max(1, this.#nextPoll - performance.now()));
      } catch (error) {
        await this.#backOff(error);
      }
    }
  }

  /** Looks for work once. @returns false if there is nothing to do until the next wake-up or poll */
  async #claimOnce(): Promise<boolean> {
    const free = this.#options.slots - this.#inFlight.size;
    if (free <= 0 || this.#writer.failing) {
      await this.#wake.wait(100);
      return true;
    }
    // A claim for a few slots costs as much as one for many, so a busy worker briefly waits for more free slots.
    if (free < this.#options.slots * (1 - maxSlotShare)) await this.#wake.wait(5);
    if (performance.now() >= this.#nextPoll) await this.#poll();
    const accountId = this.#ring.next();
    if (accountId === undefined) return false;
    await this.#claim(accountId, free);
    return true;
  }

  async #poll(): Promise<void> {
    const { claims } = this.#dependencies.stores;
    const moved = await claims.checkClock();
    if (moved !== undefined)
      this.#dependencies.log.warn(
        { moved },
        'the database clock was set back; waiting messages are due now',
      );
    const accounts = await claims.findDueAccounts();
    for (const accountId of accounts) this.#ring.add(accountId);
    this.#nextPoll = performance.now() + this.#options.pollMs * (0.75 + Math.random() / 2);
  }

  async #claim(accountId: AccountId, free: number): Promise<void> {
    const max = this.#claimCapacity(accountId, free);
    const refill = Math.min(minRefill, Math.ceil(this.#maxPerAccount / 2));
    if (max <= 0 || (max < refill && this.#inFlightOf(accountId) >= refill)) {
      this.#accountsAtLimit.add(accountId);
      return;
    }
    let claimed: ClaimedMessage[];
    try {
      claimed = await this.#dependencies.stores.claims.claim(accountId, max);
    } catch (error) {
      if (isUnavailable(error)) this.#ring.add(accountId);
      throw error;
    }
    if (claimed.length === max) this.#ring.add(accountId);
    for (const message of claimed) this.#begin(message);
  }

  #claimCapacity(accountId: AccountId, free: number): number {
    const turn = Math.ceil(free / (this.#ring.size + 1));
    const capacity = Math.min(turn, this.#maxPerAccount - this.#inFlightOf(accountId));
    return capacity <= 0 ? 0 : claimSize(capacity);
  }

  get #maxPerAccount(): number {
    return Math.max(1, Math.floor(this.#options.slots * maxSlotShare));
  }

  #inFlightOf(accountId: AccountId): number {
    return this.#inFlightByAccount.get(accountId) ?? 0;
  }

  #begin(message: ClaimedMessage): void {
    const { accountId } = message;
    this.#inFlightByAccount.set(accountId, this.#inFlightOf(accountId) + 1);
    this.#keeper.hold(message);
    const done = this.#send(message).finally(() => {
      this.#keeper.drop(message);
      this.#inFlight.delete(done);
      const remaining = (this.#inFlightByAccount.get(accountId) ?? 1) - 1;
      if (remaining > 0) this.#inFlightByAccount.set(accountId, remaining);
      else this.#inFlightByAccount.delete(accountId);
      if (this.#accountsAtLimit.delete(accountId)) this.#ring.add(accountId);
      if (this.#ring.size > 0 || this.#stopping.signal.aborted) this.#wake.ring();
    });
    this.#inFlight.add(done);
  }

  async #send(message: ClaimedMessage): Promise<void> {
    const { log, attempt, onRecorded } = this.#dependencies;
    let attemptResult: AttemptResult | undefined;
    try {
      attemptResult = await attempt(message, {
        markDot: () => this.#keeper.markDot(message),
        advance: (results, next) => this.#advance(message, results, next),
        stopping: this.#stopping.signal,
      });
    } catch (error) {
      log.error(
        { err: error, ...attemptLogFields(message) },
        'an attempt failed because of an internal error',
      );
      attemptResult = { results: message.pending.map(faultResult), notes: [] };
    }
    if (attemptResult === undefined) {
      log.info(attemptLogFields(message), 'lost the lease; another worker has the message');
      return;
    }
    const completion = settleAttempt(message, attemptResult, Math.random());
    if (await this.#writer.write(completion)) onRecorded?.(completion);
    else log.warn(attemptLogFields(message), 'the lease was lost before the outcome was written');
  }

  async #advance(
    message: ClaimedMessage,
    results: readonly RecipientResult[],
    next: readonly number[],
  ): Promise<readonly RecipientResult[] | undefined> {
    const advance = advanceAttempt(message, results, next);
    if (!(await this.#dependencies.stores.leases.advance(advance))) return undefined;
    message.pending = advance.pending;
    this.#dependencies.onRecorded?.(advance);
    return advance.remaining;
  }

  async #backOff(error: unknown): Promise<void> {
    const { log } = this.#dependencies;
    if (this.#backoff === 0) log.warn({ err: error }, 'could not read the queue; retrying');
    this.#backoff = Math.min(Math.max(this.#backoff * 2, 100), maxBackoffMs);
    const until = performance.now() + this.#backoff * (0.5 + Math.random() / 2);
    while (performance.now() < until && !this.#stopping.signal.aborted) {
      await this.#wake.wait(Math.max(1, until - performance.now()));
    }
  }
}

function faultResult(recipient: number): AttemptResult['results'][number] {
  return {
    recipient,
    outcome: 'deferred',
    reason: 'an internal error stopped the attempt',
    retry: 'ordinary',
  };
}
