import type { AccountDirectory } from '../../accounts/account/account-directory.ts';
import type { TextRow } from '../../base/network/guarded-database.ts';
import { Fault } from '../../base/values/errors.ts';
import type { Log } from '../../base/values/log.ts';
import { WakeSignal } from '../../sending/queue/wake-signal.ts';
import type { OpenSource, SourceReading } from '../source/outbox-source-store.ts';
import { describeFailure } from './describe-failure.ts';
import { type OpenTableDependencies, openTable } from './open-table.ts';
import { maxIdLength, maxPageRows, type OutboxTable } from './outbox-table-store.ts';
import { type ReadPageDependencies, readPage, throwFault } from './read-page.ts';
import { type ReplicationStream, replicationStream } from './replication-stream.ts';

export interface ReadSourceDependencies extends ReadPageDependencies, OpenTableDependencies {
  readonly log: Log;
  readonly accounts: Pick<AccountDirectory, 'account'>;
}

/** Between scans of a table, without and with a stream of its inserts. */
const pollMs = 1_000;
const streamedPollMs = 5_000;
/** A scan without a good index takes at most this share of the time. */
const scanShare = 0.05;
/** Notifications in quick succession share a look. */
const minPauseMs = 20;
/** Streamed ids that wait. */
const maxIds = 10_000;
/** Until rows are looked up again that are locked, or streamed and not seen yet. */
const lookAgainMs = 100;
/** Added columns and publications are found after this time; missing columns at once. */
const describeMs = 60_000;
const maxBackoffMs = 60_000;
/** A slot that holds back more WAL is dropped, before it fills the account's disk; the log has a warning at half of it. */
const maxSlotBytes = 1024 ** 3;
const slotPauseMs = 600_000;
const maxFailedRows = 20;
/** Transactions of the account may hold rows for a while. */
const maxUnanswered = 10;
const notAnswered = {
  name: 'ANSWERS_NOT_WRITTEN',
  detail: 'the rows stay locked, or a trigger discards their answers',
};

export type SourceLoop = ReturnType<typeof readSource>;

type Opened = Awaited<ReturnType<typeof openTable>>;

/**
 * Reads one source until it is stopped.
 * @param source as of the last lease
 * @param record called when there is something to record at once
 */
export function readSource(
  dependencies: ReadSourceDependencies,
  source: OpenSource,
  record: () => void,
) {
  const { accounts, log } = dependencies;
  const name = `${source.accountId}/${source.id}`;
  let { state } = source;
  let opened: Opened | undefined;
  let describeAt = 0;
  let stream: ReplicationStream | undefined;
  let replicateAt = 0;
  /** Streamed ids of rows to look up; the table is scanned for further ones. */
  const ids = new Set<string>();
  let scanAt = 0;
  /** Ends the pause between looks. */
  const news = new WakeSignal();
  /** Ends the time in which nothing else does: of its rate, or after a failure. */
  const hold = new WakeSignal();
  let heldUntil = 0;
  let failures = 0;
  /** Consecutive pages of which no answer was written. */
  let unanswered = 0;
  let retried: OpenSource['retryIds'] = null;
  let countedAt = performance.now();
  let rowsLastMinute = 0;
  let isStopped = false;
  const running = run();

  /** Saving a source is also how people retry it. */
  function lookNow(): void {
    failures = 0;
    heldUntil = 0;
    scanAt = 0;
    hold.ring();
    news.ring();
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      await news.wait(await look());
      const heldMs = heldUntil - performance.now();
      if (heldMs > 0) await hold.wait(heldMs);
    }
    close();
  }

  /** Reads a page. @returns milliseconds until the next one, unless there is news */
  async function look(): Promise<number> {
    const before = state;
    let failure: ReturnType<typeof describeFailure> | undefined;
    let pauseMs = 0;
    try {
      pauseMs = await lookAt(performance.now());
      failures = 0;
      if (unanswered >= maxUnanswered) failure = notAnswered;
    } catch (error) {
      failure = describeFailure(error);
      // Its connection isn't why a Fault passes.
      if (!(error instanceof Fault)) close();
      scanAt = 0;
      heldUntil = performance.now() + Math.min(1_000 * 2 ** failures, maxBackoffMs);
      failures += 1;
    }
    const now = new Date().toISOString();
    const { name: reason = null, detail = null } = failure ?? {};
    const times = failure
      ? { failingSince: before.failingSince ?? now }
      : { readAt: now, failingSince: null };
    state = { ...state, ...times, failure: reason, failureDetail: detail };
    if (detail !== before.failureDetail || state.reading !== before.reading) record();
    if (reason === before.failure) return pauseMs;
    const context = { source: name, ...failure };
    if (failure) log.warn(context, 'an outbox can’t be read');
    else log.info(context, 'an outbox is read again');
    return pauseMs;
  }

  async function lookAt(startedAt: number): Promise<number> {
    const { accountId, rowsPerSecond, retryIds } = source;
    const account = await Promise.resolve(accounts.account(accountId)).catch(throwFault);
    if (account === undefined || account.suspended) throw new Fault('ACCOUNT_SUSPENDED');
    const table = await open();
    if (retryIds !== null) {
      await table.retry(retryIds);
      source = { ...source, retryIds: null };
      retried = retryIds;
      record();
    }
    const streaming = stream?.isStreaming() === true ? stream : undefined;
    const isScan = streaming === undefined || startedAt >= scanAt;
    const some = isScan ? undefined : ids.values().take(maxPageRows).toArray();
    for (const id of some ?? []) ids.delete(id);
    const { rows, answered, failed } = await readPage(dependencies, account, source, table, some);
    if (isScan && rows.length === 0) {
      const idleMs = streaming === undefined ? pollMs : streamedPollMs;
      scanAt = startedAt + Math.max(idleMs, (performance.now() - startedAt) / scanShare);
    } else if (some !== undefined && rows.length < some.length) {
      // Others see a row a moment after its commit is streamed.
      scanAt = 0;
    }
    if (isScan && streaming !== undefined) await checkSlot(table, streaming);
    const hasMore = startedAt >= scanAt || ids.size > 0;
    const pacedMs = (rows.length / rowsPerSecond) * 1_000;
    heldUntil = startedAt + Math.max(hasMore ? 0 : minPauseMs, pacedMs);
    unanswered = rows.length > 0 && answered === 0 ? unanswered + 1 : 0;
    const others = state.failedRows.filter(({ id }) => !rows.some((row) => row.id === id));
    rowsLastMinute = rowsLastMinute * Math.exp((countedAt - startedAt) / 60_000) + answered;
    countedAt = startedAt;
    state = {
      ...state,
      ...(!hasMore && { drainedAt: new Date().toISOString() }),
      reading: streaming === undefined ? 'polling' : 'replication',
      slotBytes: streaming === undefined ? null : state.slotBytes,
      rowsLastMinute: Math.round(rowsLastMinute),
      failedRows: [...failed, ...others].slice(0, maxFailedRows),
    };
    const isStuck = answered === 0 && (rows.length > 0 || !isScan);
    if (isStuck) return isScan ? pollMs : lookAgainMs;
    return hasMore ? 0 : Math.max(0, scanAt - performance.now());
  }

  /** Drops a slot before the WAL that it holds back fills the account's disk. */
  async function checkSlot(table: OutboxTable, { slot, client }: ReplicationStream): Promise<void> {
    const slotBytes = await table.slotBytes(slot);
    const isNews = slotBytes > maxSlotBytes / 2 && (state.slotBytes ?? 0) <= maxSlotBytes / 2;
    state = { ...state, slotBytes };
    const isDropped = slotBytes > maxSlotBytes;
    const context = { source: name, slotBytes, isDropped };
    if (isDropped || isNews)
      log.warn(context, 'the replication slot of an outbox holds back much WAL');
    if (!isDropped) return;
    client.close();
    replicateAt = performance.now() + slotPauseMs;
  }

  async function open(): Promise<OutboxTable> {
    const { url, after } = opened?.source ?? {};
    if (opened?.client.isOpen() !== true || url !== source.url || after !== source.after) {
      close();
      opened = await openTable(source, dependencies, () => news.ring());
      describeAt = 0;
    }
    const now = performance.now();
    if (now < describeAt) return opened.table;
    const published = await opened.table.describe();
    describeAt = now + describeMs;
    const isWanted = published.publication != null && now >= replicateAt;
    if (isWanted && stream?.client.isOpen() !== true) void replicate(opened, published);
    return opened.table;
  }

  /** Starts a stream; until it is there, and where it is refused, the table is polled. */
  async function replicate(from: Opened, published: TextRow): Promise<void> {
    try {
      const client = await from.replicate();
      if (opened !== from) return client.close();
      stream = replicationStream(client, published, (id) => {
        if (ids.size < maxIds && id.length <= maxIdLength) ids.add(id);
        else scanAt = 0;
        news.ring();
      });
      await stream.start();
      scanAt = 0;
      news.ring();
    } catch (error) {
      stream?.client.close();
      const context = { err: error, source: name };
      log.info(context, 'an outbox is polled: its server refuses replication');
    }
  }

  function close(): void {
    opened?.client.close();
    stream?.client.close();
    opened = undefined;
    stream = undefined;
    ids.clear();
  }

  return {
    name,
    lookNow,
    running,
    /** Seconds since it had no row left to read. */
    lagSeconds: () =>
      Math.max(0, (Date.now() - Number(new Date(state.drainedAt ?? source.createdAt))) / 1_000),
    slotBytes: () => state.slotBytes,
    /** What to record with its lease. */
    reading(): SourceReading {
      const reading = { incarnation: source.incarnation, state, retried };
      retried = null;
      stream?.acknowledge();
      return reading;
    },
    update(leased: OpenSource): void {
      const isChanged = leased.url !== source.url || leased.after !== source.after;
      source = leased;
      if (isChanged || source.retryIds !== null) lookNow();
    },
    stop(): Promise<void> {
      isStopped = true;
      lookNow();
      return running;
    },
  };
}
