import { setTimeout as delay } from 'node:timers/promises';
import { isUnavailable } from '../../base/database/sqlstate.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import {
  type Attempt,
  type AttemptResult,
  attemptLogFields,
  type ClaimedMessage,
  holdAfter,
  type RecordableResult,
  resultWithoutDatabase,
  suspectAfter,
} from './attempt.ts';
import { type ClaimSize, type ClaimStore, claimSize } from './claim-store.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import type { LeaseStore } from './lease-store.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { advanceAttempt, type RecordedEvents, settleAttempt } from './settle-attempt.ts';
import { WakeSignal } from './wake-signal.ts';

export interface WorkerOptions {
  /** Max messages in flight. */
  readonly slots: number;
  readonly leaseMs: number;
  /** How often to poll for messages from other nodes and due retries; half as often after a while without any. */
  readonly pollMs: number;
  /** How long a stop waits for messages in flight. */
  readonly graceMs: number;
  /** How long a process works only on messages that have to be sent alone, before it works on others for much longer. */
  readonly aloneMs: number;
}

export const defaultWorkerOptions: WorkerOptions = {
  slots: 100,
  leaseMs: 30_000,
  pollMs: 1_000,
  graceMs: 15_000,
  aloneMs: 30_000,
};

export interface WorkerDependencies {
  readonly claims: Pick<ClaimStore, keyof ClaimStore>;
  readonly leases: LeaseStore;
  readonly attempt: Attempt;
  readonly log: Log;
  readonly options?: Partial<WorkerOptions>;
  /** Called for each recorded outcome. */
  readonly onRecorded?: (recorded: RecordedEvents) => void;
  /** Drops open connections when the grace period of a stop ends. */
  readonly dropConnections?: () => void;
}

const maxBackoffMs = 5_000;
/** A worker without messages for this long is idle. */
const idleAfterMs = 10_000;
/** Max share of the slots for one account, so a slow flood leaves room for others. */
const maxSlotShare = 0.75;
/**
 * Once an account has this many in flight, it refills only in batches of at least this size, since a claim costs more
 * than its rows.
 */
const minRefill = 32;
/**
 * After a claim that left nothing waiting, the next one begins this much later, so that what is accepted meanwhile shares it and
 * the writes that follow. The first after a pause begins at once.
 */
const gatherMs = 50;
/** Messages of a process that wait to be sent alone. */
const maxSuspects = 16;
/** How much longer than on them a process works on others, so that they take at most a tenth of its time. */
const togetherRatio = 9;
/** Until more are claimed again. */
const suspectDelayMs = 5_000;
const suspectReason =
  'it waits to be sent alone, because the service stopped unexpectedly each time while sending it';
/** Accounts of one claim. */
const maxAccounts = 64;

/** What one claim asks for. */
interface Turn {
  readonly accountIds: readonly AccountId[];
  /** Messages of each account. */
  readonly max: ClaimSize;
}

/**
 * The loop that sends due messages. Accounts take turns, and those that wait share a claim, which is one short statement;
 * messages are then sent independently. `wake` triggers it, and a short poll catches work from other nodes.
 */
export class Worker {
  readonly #dependencies: WorkerDependencies;
  readonly #options: WorkerOptions;
  /** Accounts that may have due messages, in the order of their turns. */
  readonly #ring = new Set<AccountId>();
  readonly #wake = new WakeSignal();
  readonly #keeper: LeaseKeeper;
  readonly #writer: OutcomeWriter;
  readonly #stopping = new AbortController();
  readonly #inFlightByAccount = new Map<AccountId, number>();
  /** Accounts at their limit that may have more due messages. */
  readonly #accountsAtLimit = new Set<AccountId>();
  #inFlight = new Set<Promise<void>>();
  /** Claimed messages that have to be sent alone. */
  readonly #suspects: ClaimedMessage[] = [];
  /** Monotonic time when the next of them are sent at the earliest. */
  #nextAloneAt = Number.NEGATIVE_INFINITY;
  #loop: Promise<void> | undefined;
  #nextPoll = 0;
  /** Monotonic times of the last claim that found messages, and of the last poll because of an announcement. */
  #workedAt = Number.NEGATIVE_INFINITY;
  #announcedPollAt = Number.NEGATIVE_INFINITY;
  /** Monotonic time of the next claim at the earliest. */
  #gathersUntil = Number.NEGATIVE_INFINITY;
  /** Messages were announced since the last poll began, which may not have seen them. */
  #isAnnounced = false;
  #backoff = 0;

  constructor(dependencies: WorkerDependencies) {
    this.#dependencies = dependencies;
    this.#options = { ...defaultWorkerOptions, ...dependencies.options };
    const { leases, log } = dependencies;
    this.#keeper = new LeaseKeeper(leases, this.#options.leaseMs, log);
    this.#writer = new OutcomeWriter(leases, log);
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

  /** Signals that a process without a worker accepted messages. Polls at once, but not more often than usual. */
  pollSoon(): void {
    this.#isAnnounced = true;
    const now = performance.now();
    const pollAt = Math.max(now, this.#announcedPollAt + this.#options.pollMs);
    if (pollAt >= this.#nextPoll) return;
    this.#nextPoll = pollAt;
    this.#announcedPollAt = pollAt;
    this.#wake.ring();
  }

  /** Stops claiming, finishes messages in flight within the grace period, and releases the remaining leases. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.ring();
    await this.#loop;
    for (const message of this.#suspects.splice(0)) this.#begin(message);
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

  /** Polls for work once. @returns false if there is nothing to do until the next wake-up or poll */
  async #claimOnce(): Promise<boolean> {
    if (this.#suspects.length > 0 && performance.now() >= this.#nextAloneAt) {
      await this.#workAlone();
      return true;
    }
    const free = this.#options.slots - this.#inFlight.size;
    if (free <= 0 || this.#writer.failing) {
      await this.#wake.wait(100);
      return true;
    }
    // A claim for a few slots costs as much as one for many, so a busy worker briefly waits for more free slots.
    if (free < this.#options.slots * (1 - maxSlotShare)) await this.#wake.wait(5);
    if (performance.now() >= this.#nextPoll) await this.#poll();
    if (this.#ring.size === 0) return false;
    const gathering = this.#gathersUntil - performance.now();
    if (gathering > 0) await delay(gathering);
    const turn = this.#nextTurn(this.#options.slots - this.#inFlight.size);
    const isLast = this.#ring.size === 0;
    const isFull = await this.#claim(turn);
    if (isLast && !isFull) this.#gathersUntil = performance.now() + gatherMs;
    return true;
  }

  async #poll(): Promise<void> {
    const { claims, log } = this.#dependencies;
    const moved = await claims.checkClock();
    if (moved !== undefined)
      log.warn({ moved }, 'the database clock was set back; waiting messages are due now');
    this.#isAnnounced = false;
    const accounts = await claims.findDueAccounts();
    for (const accountId of accounts) this.#ring.add(accountId);
    const now = performance.now();
    const isIdle = accounts.length === 0 && now - this.#workedAt > idleAfterMs;
    const pollMs = this.#options.pollMs * (isIdle ? 2 : 1);
    this.#nextPoll = now + pollMs * (0.75 + Math.random() / 2);
    if (this.#isAnnounced) this.pollSoon();
  }

  /** The next accounts, as many as can share one claim. */
  #nextTurn(free: number): Turn {
    const accountIds: AccountId[] = [];
    const waiting = this.#ring.size;
    const share = Math.ceil(free / waiting);
    let max: ClaimSize = 1;
    for (let seen = 0; seen < waiting && accountIds.length < maxAccounts; seen += 1) {
      if (accountIds.length > 0 && (accountIds.length + 1) * max > free) break;
      const [accountId] = this.#ring;
      if (accountId === undefined) break;
      this.#ring.delete(accountId);
      const own = this.#claimCapacity(accountId, share);
      if (own === undefined) this.#accountsAtLimit.add(accountId);
      else if (accountIds.length > 0 && own < max) this.#ring.add(accountId);
      else {
        if (accountIds.length === 0) max = own;
        accountIds.push(accountId);
      }
    }
    return { accountIds, max };
  }

  /** @returns true if an account may have more due messages */
  async #claim({ accountIds, max }: Turn): Promise<boolean> {
    if (accountIds.length === 0) return false;
    let claimed: ClaimedMessage[];
    try {
      claimed = await this.#dependencies.claims.claim(accountIds, max);
    } catch (error) {
      if (isUnavailable(error)) for (const accountId of accountIds) this.#ring.add(accountId);
      throw error;
    }
    if (claimed.length > 0) this.#workedAt = performance.now();
    const counts = new Map<AccountId, number>();
    let isFull = false;
    for (const message of claimed) {
      const count = (counts.get(message.accountId) ?? 0) + 1;
      counts.set(message.accountId, count);
      if (count === max) {
        this.#ring.add(message.accountId);
        isFull = true;
      }
      const decided = this.#decide(message);
      if (decided === undefined && message.orphaned >= suspectAfter) this.#suspect(message);
      else this.#begin(message, decided);
    }
    return isFull;
  }

  /** Keeps a message that may be what ended its processes until nothing else is in flight. */
  #suspect(message: ClaimedMessage): void {
    if (this.#suspects.length < maxSuspects) {
      this.#suspects.push(message);
      this.#keeper.hold(message);
      return;
    }
    const postponed = { delayMs: suspectDelayMs, reason: suspectReason };
    this.#begin(message, { results: [], notes: [], postponed });
  }

  /**
   * Sends suspects one at a time with nothing else in flight, for a limited time: a slow server may take minutes. What takes
   * longer continues beside others, and no longer counts as alone.
   */
  async #workAlone(): Promise<void> {
    const began = performance.now();
    const { aloneMs } = this.#options;
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.#stopping.signal]);
    const over = delay(aloneMs, undefined, { signal }).catch(() => undefined);
    const { leases } = this.#dependencies;
    try {
      await Promise.race([Promise.all(this.#inFlight), over]);
      for (;;) {
        const [message] = this.#suspects;
        if (message === undefined || this.#inFlight.size > 0) break;
        if (this.#stopping.signal.aborted || performance.now() - began >= aloneMs) break;
        const isHeld = await leases.setAlone(message, true);
        this.#suspects.shift();
        if (!isHeld) {
          this.#keeper.drop(message);
          continue;
        }
        this.#begin(message);
        await Promise.race([Promise.all(this.#inFlight), over]);
        if (this.#inFlight.size > 0) await leases.setAlone(message, false);
      }
    } finally {
      ended.abort();
      const now = performance.now();
      this.#nextAloneAt = now + (now - began) * togetherRatio;
    }
  }

  /** @returns undefined if the account is at its limit */
  #claimCapacity(accountId: AccountId, share: number): ClaimSize | undefined {
    const inFlight = this.#inFlightOf(accountId);
    const max = Math.min(share, this.#maxPerAccount - inFlight);
    if (max <= 0) return undefined;
    const size = claimSize(max);
    const refill = Math.min(minRefill, Math.ceil(this.#maxPerAccount / 2));
    return size < refill && inFlight >= refill ? undefined : size;
  }

  get #maxPerAccount(): number {
    return Math.max(1, Math.floor(this.#options.slots * maxSlotShare));
  }

  #inFlightOf(accountId: AccountId): number {
    return this.#inFlightByAccount.get(accountId) ?? 0;
  }

  /** @param decided its result, if it isn't tried */
  #begin(message: ClaimedMessage, decided = this.#decide(message)): void {
    const { accountId } = message;
    this.#inFlightByAccount.set(accountId, this.#inFlightOf(accountId) + 1);
    this.#keeper.hold(message);
    const done = this.#send(message, decided).finally(() => {
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

  /** The result of a message that isn't tried now; undefined to try it. */
  #decide(message: ClaimedMessage): AttemptResult | undefined {
    if (message.paused || this.#stopping.signal.aborted) return release;
    if (message.canceled || message.orphaned < holdAfter) return undefined;
    const reason = `the service stopped unexpectedly ${holdAfter} times while sending it; check the service’s log, then retry it`;
    return {
      results: message.pending.map((recipient) => ({ recipient, outcome: 'failed', reason })),
      notes: [],
    };
  }

  async #send(message: ClaimedMessage, decided: AttemptResult | undefined): Promise<void> {
    const { log, attempt, onRecorded } = this.#dependencies;
    let attemptResult = decided;
    try {
      attemptResult ??= await attempt(message, {
        markDot: () => this.#keeper.markDot(message),
        advance: (results, next) => this.#advance(message, results, next),
        stopping: this.#stopping.signal,
      });
    } catch (error) {
      const fields = { err: error, ...attemptLogFields(message) };
      if (isUnavailable(error)) {
        log.warn(fields, 'an attempt waits for the database');
        attemptResult = resultWithoutDatabase;
      } else {
        log.error(fields, 'an attempt failed because of an internal error');
        attemptResult = { results: message.pending.map(faultResult), notes: [] };
      }
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
    results: readonly RecordableResult[],
    next: readonly number[],
  ): Promise<readonly RecordableResult[] | undefined> {
    const advance = advanceAttempt(message, results, next);
    const pending = await this.#dependencies.leases.advance(advance);
    if (pending === undefined) return undefined;
    message.pending = pending;
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

/** Nothing was tried. A paused message stays paused. */
const release: AttemptResult = Object.freeze({ results: [], notes: [] });

function faultResult(recipient: number): AttemptResult['results'][number] {
  return {
    recipient,
    outcome: 'deferred',
    reason: 'an internal error stopped the attempt',
    retry: 'ordinary',
  };
}
