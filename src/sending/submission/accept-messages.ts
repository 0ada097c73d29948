import { setTimeout as pause } from 'node:timers/promises';
import { CommitFailure, GroupCommit } from '../../base/database/group-commit.ts';
import { codeOf, isRetryable, isUnavailable } from '../../base/database/sqlstate.ts';
import { Fault } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { awaitAll } from '../../base/values/maybe-promise.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import {
  type AcceptOutcome,
  type AcceptRow,
  acceptedOutcome,
  keyBusyOutcome,
  rowWithCopies,
} from './accept-row.ts';
import { type AcceptStore, isLostAttachment, UnknownOutcome } from './accept-store.ts';

export interface AcceptorDependencies {
  readonly store: Pick<AcceptStore, 'insert' | 'isStored'>;
  readonly log: Log;
  /** Called after each commit so that local workers look for work at once. */
  readonly onAccepted: (accountIds: Iterable<AccountId>) => void;
  /** Called after each commit of test messages. */
  readonly onTests?: (accountIds: ReadonlySet<AccountId>) => void;
  /** Called with the size of each committed batch. */
  readonly onBatch?: (rows: number) => void;
}

export type AcceptorLimits = typeof defaultAcceptorLimits;

export const defaultAcceptorLimits = {
  /** Max rows per batch. */
  maxBatchRows: 512,
  /**
   * Send a batch of this size as soon as a connection is free; waiting for more would hardly lower the cost per row.
   */
  readyBatchRows: 32,
  /** Max concurrent batches. */
  concurrency: 2,
  /** Max rows waiting for a batch; further requests are refused. */
  waiting: 2_048,
  /** Rows that waited longer are refused. */
  maxWaitMs: 3_000,
  /** How long to query a batch's outcome after its connection broke. */
  outcomeTimeoutMs: 10_000,
};

/** Max characters of content in one batch, and in all waiting rows. */
const maxBatchCharacters = 4 * 1024 * 1024;
const maxWaitingCharacters = 64 * 1024 * 1024;

const maxAttempts = 5;
const outcomePollMs = 100;
const lockNotAvailable = '55P03';

interface BatchEntry {
  readonly row: AcceptRow;
  /** Deadline for sending it, in monotonic time. */
  readonly deadline: number;
}

/** A row to commit separately. */
interface SingleEntry extends BatchEntry {
  /**
   * Undefined if it is known not to be stored. Otherwise its outcome is unknown and is queried until this time
   * (monotonic).
   */
  readonly outcomeDeadline: number | undefined;
}

type BatchOutcome =
  | AcceptOutcome
  | { readonly kind: 'single'; readonly single: SingleEntry }
  | { readonly kind: 'late' };

/**
 * Accepts messages by group commit: concurrent requests share a statement and a flush.
 *
 * What happens when a batch fails:
 * - Deadlock or serialization failure (40P01, 40001): nothing was stored; the batch is retried.
 * - The server reports it is unavailable: nothing was stored; every request in the batch gets a 503.
 * - A lock timed out or a row's data is invalid: nothing was stored; each row is retried separately, so that no
 *   request fails another.
 * - The connection broke or timed out after the statement was sent: it may still commit. Each row is sent again with
 *   the same id. If the first statement committed or is still running, the retry conflicts on the primary key, waits
 *   for it and changes nothing, so the message is stored exactly once and the response is a 200. If some outcome is still
 *   unknown after `outcomeTimeoutMs`, the caller gets a 503; a retry with its Idempotency-Key is safe.
 */
export class Acceptor {
  readonly #dependencies: AcceptorDependencies;
  readonly #limits: AcceptorLimits;
  readonly #batches: GroupCommit<BatchEntry, BatchOutcome>;
  readonly #singles: GroupCommit<SingleEntry, AcceptOutcome>;

  constructor(dependencies: AcceptorDependencies, limits: AcceptorLimits = defaultAcceptorLimits) {
    this.#dependencies = dependencies;
    this.#limits = limits;
    this.#batches = new GroupCommit((entries) => this.#commitBatch(entries), {
      max: limits.maxBatchRows,
      enough: limits.readyBatchRows,
      concurrency: limits.concurrency,
      waiting: limits.waiting,
      weight: {
        of: (entry) => weigh(entry.row),
        max: maxBatchCharacters,
        waiting: maxWaitingCharacters,
      },
    });
    this.#singles = new GroupCommit((items) => this.#commitSingles(items), {
      max: 1,
      concurrency: limits.concurrency,
      waiting: limits.waiting * 2,
    });
  }

  /** Requests waiting for a batch. */
  get waiting(): number {
    return this.#batches.waiting;
  }

  /**
   * Stores a message. Resolves once it is committed and flushed, or with the reason nothing was stored.
   * @throws Fault IO_EXCEPTION if too many requests wait or the database can't commit
   */
  async accept(row: AcceptRow): Promise<AcceptOutcome> {
    const deadline = performance.now() + this.#limits.maxWaitMs;
    const added = this.#batches.add({ row, deadline });
    if (added === undefined) throw overloaded();
    const outcome = await added;
    if (outcome.kind === 'late') throw overloaded();
    return outcome.kind === 'single' ? this.#acceptSingle(outcome.single) : outcome;
  }

  /**
   * Stores messages as `accept` does, with one promise for all of them.
   * @returns the outcome of each, in order
   */
  async acceptAll(rows: readonly AcceptRow[]): Promise<readonly (AcceptOutcome | CommitFailure)[]> {
    const deadline = performance.now() + this.#limits.maxWaitMs;
    const outcomes = await this.#batches.addAll(rows.map((row) => ({ row, deadline })));
    return awaitAll(
      outcomes.map((outcome) => {
        if (outcome === undefined || outcome instanceof CommitFailure)
          return outcome ?? new CommitFailure(overloaded());
        if (outcome.kind === 'late') return new CommitFailure(overloaded());
        if (outcome.kind !== 'single') return outcome;
        return this.#acceptSingle(outcome.single).catch((error) => new CommitFailure(error));
      }),
    );
  }

  /** Rows that the work accepts before it returns share a commit. */
  acceptTogether(work: () => void): void {
    this.#batches.addTogether(work);
  }

  /** Like `accept`, for a row whose key was busy. */
  acceptAgain(row: AcceptRow): Promise<AcceptOutcome> {
    const deadline = performance.now() + this.#limits.maxWaitMs;
    return this.#acceptSingle({ row, deadline, outcomeDeadline: undefined });
  }

  /** Resolves when all added rows have an outcome. */
  async drain(): Promise<void> {
    await this.#batches.drain();
    await this.#singles.drain();
  }

  async #acceptSingle(single: SingleEntry): Promise<AcceptOutcome> {
    const added = this.#singles.add(single);
    if (added === undefined) throw overloaded();
    return added;
  }

  async #commitBatch(entries: readonly BatchEntry[]): Promise<readonly BatchOutcome[]> {
    const now = performance.now();
    // Entries are in arrival order: if the first is in time, all are.
    if (entries[0] !== undefined && entries[0].deadline < now)
      return this.#commitUnexpired(entries, now);
    const rows = entries.map((entry) => entry.row);
    try {
      const outcomes = await this.#insert(rows, false);
      this.#notify(rows, outcomes);
      return outcomes;
    } catch (error) {
      const outcomeDeadline = this.#outcomeDeadlineAfter(error);
      if (outcomeDeadline === undefined && !this.#shouldSplit(rows, error)) throw error;
      return entries.map((entry) => ({ kind: 'single', single: { ...entry, outcomeDeadline } }));
    }
  }

  async #commitUnexpired(
    entries: readonly BatchEntry[],
    now: number,
  ): Promise<readonly BatchOutcome[]> {
    const unexpired = entries.filter((entry) => entry.deadline >= now);
    const outcomes = unexpired.length === 0 ? [] : [...(await this.#commitBatch(unexpired))];
    // Entries are in arrival order, so late ones come first.
    const late = entries.slice(unexpired.length).map((): BatchOutcome => ({ kind: 'late' }));
    return [...late, ...outcomes];
  }

  #outcomeDeadlineAfter(error: unknown): number | undefined {
    if (!(error instanceof UnknownOutcome)) return undefined;
    this.#dependencies.log.warn({ err: error }, 'the outcome of a batch is unknown; querying it');
    return performance.now() + this.#limits.outcomeTimeoutMs;
  }

  /** True if the rows should be retried one by one. */
  #shouldSplit(rows: readonly AcceptRow[], error: unknown): boolean {
    if (codeOf(error) === lockNotAvailable || isLostAttachment(error)) return true;
    if (isUnavailable(error)) return false;
    this.#dependencies.log.error(
      { err: error, rows: rows.length },
      'a batch failed; retrying its rows separately',
    );
    return rows.length > 1;
  }

  async #commitSingles(items: readonly SingleEntry[]): Promise<readonly AcceptOutcome[]> {
    const outcomes: AcceptOutcome[] = [];
    for (const item of items) outcomes.push(await this.#commitSingle(item));
    this.#notify(
      items.map((item) => item.row),
      outcomes,
    );
    return outcomes;
  }

  /** Skips late rows, because an attempt may wait for a lock or an unresponsive server while others queue behind it. */
  async #commitSingle({
    row,
    deadline,
    outcomeDeadline: given,
  }: SingleEntry): Promise<AcceptOutcome> {
    let outcomeDeadline = given;
    if (outcomeDeadline === undefined && performance.now() >= deadline) return keyBusyOutcome;
    if (outcomeDeadline !== undefined && performance.now() >= outcomeDeadline)
      throw outcomeUnknown();
    for (;;) {
      try {
        if (outcomeDeadline !== undefined && (await this.#dependencies.store.isStored(row)))
          return acceptedOutcome;
        const [outcome] = await this.#insert([row], true);
        return outcome ?? keyBusyOutcome;
      } catch (error) {
        if (codeOf(error) === lockNotAvailable && outcomeDeadline === undefined)
          return keyBusyOutcome;
        // A repeated request brings its content again.
        if (isLostAttachment(error)) throw new Fault('IO_EXCEPTION', { cause: error });
        outcomeDeadline ??= this.#outcomeDeadlineAfter(error);
        if (outcomeDeadline === undefined) throw error;
        // The message may be stored even if its outcome can't be queried.
        if (performance.now() >= outcomeDeadline) throw outcomeUnknown(error);
        await pause(outcomePollMs);
      }
    }
  }

  async #insert(rows: readonly AcceptRow[], repeated: boolean): Promise<readonly AcceptOutcome[]> {
    const { store } = this.#dependencies;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store.insert(rows, repeated);
      } catch (error) {
        if (!isRetryable(error) || attempt === maxAttempts) throw error;
      }
    }
  }

  #notify(rows: readonly AcceptRow[], outcomes: readonly AcceptOutcome[]): void {
    const accounts = new Set<AccountId>();
    const tested = new Set<AccountId>();
    rows.forEach(({ accountId, retentionDays }, index) => {
      if (outcomes[index]?.kind !== 'accepted') return;
      accounts.add(accountId);
      if (isTestClass(retentionDays)) tested.add(accountId);
    });
    if (tested.size > 0) this.#dependencies.onTests?.(tested);
    this.#dependencies.onBatch?.(rows.length);
    if (accounts.size > 0) this.#dependencies.onAccepted(accounts);
  }
}

/** Characters of content. */
function weigh(row: AcceptRow): number {
  const { length } = row.content;
  if (row.copies === undefined) return length;
  return rowWithCopies(row).reduce((sum, { content }) => sum + content.length, 0);
}

function overloaded(): Fault {
  return new Fault('IO_EXCEPTION', {
    cause: new Error('too many requests are waiting for a commit'),
  });
}

/** The error when the database didn't report the outcome in time. */
function outcomeUnknown(
  cause: unknown = new Error('the outcome could not be queried in time'),
): Fault {
  return new Fault('IO_EXCEPTION', { cause });
}
