import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, isRetryable, isUnavailable } from '../foundation/database/sqlstate.ts';
import { Fault } from '../foundation/errors.ts';
import { GroupCommit } from '../foundation/group-commit.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import {
  type AcceptOutcome,
  type AcceptRow,
  acceptedOutcome,
  keyBusyOutcome,
} from './accept-row.ts';
import { type AcceptStore, UnknownOutcome } from './accept-store.ts';

export interface AcceptorDependencies {
  readonly store: Pick<AcceptStore, 'insert' | 'isStored'>;
  readonly log: Log;
  /** Told after each commit, so that workers of this process look at once. */
  readonly onAccepted: (accountIds: Iterable<AccountId>) => void;
  /** Told the size of each batch that was committed. */
  readonly onBatch?: (rows: number) => void;
}

export interface AcceptorLimits {
  /** Rows of one batch. */
  readonly maxBatchRows: number;
  /** So many rows are a batch as soon as a connection is free: what a statement costs by itself is little for each by then. */
  readonly readyBatchRows: number;
  /** Batches under way at the same time. */
  readonly concurrency: number;
  /** Rows that may wait for a batch; past it requests are refused. */
  readonly waiting: number;
  /** A row that waited longer is refused instead of sent. */
  readonly maxWaitMs: number;
  /** How long the outcome of a batch is asked for after its connection broke. */
  readonly outcomeTimeoutMs: number;
}

export const defaultAcceptorLimits: AcceptorLimits = {
  maxBatchRows: 512,
  readyBatchRows: 32,
  concurrency: 2,
  waiting: 2_048,
  maxWaitMs: 3_000,
  outcomeTimeoutMs: 10_000,
};

/** Characters of content: of one batch, and of everything that waits. */
const maxBatchCharacters = 4 * 1024 * 1024;
const maxWaitingCharacters = 64 * 1024 * 1024;

const maxAttempts = 5;
const outcomePollMs = 100;
const lockNotAvailable = '55P03';

interface BatchEntry {
  readonly row: AcceptRow;
  /** When it is too late to send it, by the monotonic clock. */
  readonly late: number;
}

/** A row that has to be tried by itself. */
interface SingleEntry extends BatchEntry {
  /** Undefined: it is not stored. Else it may be, and until then (monotonic clock) its outcome is asked for. */
  readonly outcomeDeadline: number | undefined;
}

type BatchOutcome =
  | AcceptOutcome
  | { readonly kind: 'apart'; readonly single: SingleEntry }
  | { readonly kind: 'late' };

/**
 * Accepts messages by group commit: requests that come together share a statement and a flush.
 *
 * What happens when a batch fails:
 * - A deadlock or serialization failure (40P01, 40001): nothing was stored, the batch is repeated.
 * - The server answers that it cannot work now: nothing was stored, every request of the batch gets a 503.
 * - A lock was not free in time, or some row's data is at fault: nothing was stored, and every row is tried by itself,
 *   so that no request fails another.
 * - The connection broke, or the server fell silent, after the statement was sent: it may be committed, or may yet be.
 *   Then each row is sent again under the same id. If the first statement went through, or is still under way, the
 *   repetition meets its rows at the primary key, waits for it to end, and changes nothing; so whichever it is, the
 *   message is stored exactly once and the answer is a 200. Only where the database stays away for longer than
 *   `longestDoubt`, or has not answered for all rows in doubt by then, does the caller get a 503 with the outcome open; a caller that sent an Idempotency-Key repeats the
 *   request without any doubt.
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
        of: (entry) => entry.row.content.length,
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

  /** Requests that wait for a batch. */
  get waiting(): number {
    return this.#batches.waiting;
  }

  /**
   * Stores a message. Resolves once it is committed and flushed, or with why nothing was stored.
   * @throws Fault IO_EXCEPTION where too many wait or the database cannot commit now
   */
  async accept(row: AcceptRow): Promise<AcceptOutcome> {
    const late = performance.now() + this.#limits.maxWaitMs;
    const added = this.#batches.add({ row, late });
    if (added === undefined) throw overloaded();
    const outcome = await added;
    if (outcome.kind === 'late') throw overloaded();
    return outcome.kind === 'apart' ? this.#acceptSingle(outcome.single) : outcome;
  }

  /** As `accept`, for a row whose key was busy. */
  acceptAgain(row: AcceptRow): Promise<AcceptOutcome> {
    const late = performance.now() + this.#limits.maxWaitMs;
    return this.#acceptSingle({ row, late, outcomeDeadline: undefined });
  }

  /** Resolves when everything that was added has its outcome. */
  async drain(): Promise<void> {
    await this.#batches.drain();
    await this.#singles.drain();
  }

  #acceptSingle(single: SingleEntry): Promise<AcceptOutcome> {
    const added = this.#singles.add(single);
    if (added === undefined) throw overloaded();
    return added;
  }

  async #commitBatch(entries: readonly BatchEntry[]): Promise<readonly BatchOutcome[]> {
    const now = performance.now();
    // The oldest stands first: where that one is in time, all are.
    if (entries[0] !== undefined && entries[0].late < now)
      return this.#commitUnexpired(entries, now);
    const rows = entries.map((entry) => entry.row);
    try {
      const outcomes = await this.#insert(rows, false);
      this.#notify(rows, outcomes);
      return outcomes;
    } catch (error) {
      const outcomeDeadline = this.#outcomeDeadlineAfter(error);
      if (outcomeDeadline === undefined && !this.#shouldSplit(rows, error)) throw error;
      return entries.map((entry) => ({ kind: 'apart', single: { ...entry, outcomeDeadline } }));
    }
  }

  async #commitUnexpired(
    entries: readonly BatchEntry[],
    now: number,
  ): Promise<readonly BatchOutcome[]> {
    const unexpired = entries.filter((entry) => entry.late >= now);
    const outcomes = unexpired.length === 0 ? [] : [...(await this.#commitBatch(unexpired))];
    // Entries stand in the order of their arrival, so the late ones come first.
    const late = entries.slice(unexpired.length).map((): BatchOutcome => ({ kind: 'late' }));
    return [...late, ...outcomes];
  }

  #outcomeDeadlineAfter(error: unknown): number | undefined {
    if (!(error instanceof UnknownOutcome)) return undefined;
    this.#dependencies.log.warn({ err: error }, 'the outcome of a batch is unknown; asking for it');
    return performance.now() + this.#limits.outcomeTimeoutMs;
  }

  /** True where the rows are tried one by one. */
  #shouldSplit(rows: readonly AcceptRow[], error: unknown): boolean {
    if (codeOf(error) === lockNotAvailable) return true;
    if (isUnavailable(error)) return false;
    this.#dependencies.log.error(
      { err: error, rows: rows.length },
      'a batch failed; trying its rows',
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

  /** Each try may wait for a lock or for a silent server, and others wait behind it: what is too late is not tried at all. */
  async #commitSingle({ row, late, outcomeDeadline: given }: SingleEntry): Promise<AcceptOutcome> {
    let outcomeDeadline = given;
    if (outcomeDeadline === undefined && performance.now() >= late) return keyBusyOutcome;
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
        outcomeDeadline ??= this.#outcomeDeadlineAfter(error);
        if (outcomeDeadline === undefined) throw error;
        // Whatever keeps it from being asked for, the message may be stored.
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
    rows.forEach((row, index) => {
      if (outcomes[index]?.kind === 'accepted') accounts.add(row.accountId);
    });
    this.#dependencies.onBatch?.(rows.length);
    if (accounts.size > 0) this.#dependencies.onAccepted(accounts);
  }
}

function overloaded(): Fault {
  return new Fault('IO_EXCEPTION', { cause: new Error('too many requests wait for a commit') });
}

/** The answer where the database did not say in time whether the message is stored. */
function outcomeUnknown(cause: unknown = new Error('nobody could ask in time')): Fault {
  return new Fault('IO_EXCEPTION', { cause });
}
