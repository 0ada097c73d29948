import type { AccountDirectory } from '../../accounts/account/account-directory.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { TextRow } from '../../base/network/guarded-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import { Fault } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { WakeSignal } from '../../sending/queue/wake-signal.ts';
import {
  leaseSources,
  type OpenSource,
  outboxSourceTopic,
  releaseSources,
  type SourceReading,
} from '../source/outbox-source-store.ts';
import type { SourceState } from '../source/source-schemas.ts';
import { describeFailure } from './describe-failure.ts';
import { type OpenTableDependencies, openTable } from './open-table.ts';
import { maxIdLength, maxPageRows, type OutboxTable } from './outbox-table-store.ts';
import { type ReadPageDependencies, readPage, throwFault } from './read-page.ts';
import { ReplicationStream } from './replication-stream.ts';

export interface OutboxReaderDependencies extends ReadPageDependencies, OpenTableDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly log: Log;
  readonly accounts: Pick<AccountDirectory, 'account'>;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
}

/** Sources that a process reads; each has a connection or two. */
const maxSources = 100;
/** Between extensions of leases and looks for sources that no process reads; a fraction of a lease. */
const leaseMs = 2_000;
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

/**
 * Reads sources under leases: each has one reader, and another process takes over if it ends. Where two overlap, the keys of the
 * rows let each be sent once. How a table is read is up to `OutboxTable`.
 */
export class OutboxReader {
  readonly #dependencies: OutboxReaderDependencies;
  readonly #owner = newId();
  /** By incarnation of the source. */
  readonly #loops = new Map<string, SourceLoop>();
  readonly #leases: PeriodicTask;

  constructor(dependencies: OutboxReaderDependencies) {
    this.#dependencies = dependencies;
    this.#leases = new PeriodicTask(leaseMs, () => this.#lease(), {
      onError: (error) => dependencies.log.warn({ err: error }, 'could not lease outbox sources'),
    });
    dependencies.changes.subscribe(outboxSourceTopic, (name) => {
      for (const loop of this.#loops.values())
        if (name === '*' || loop.name === name) loop.lookNow();
      this.#record();
    });
  }

  /** Seconds since the source that is furthest behind had no row left to read; undefined without sources. */
  get lagSeconds(): number | undefined {
    return highest([...this.#loops.values()].map((loop) => loop.lagSeconds));
  }

  /** Bytes of WAL that the slot of a source holds back, the most of all; undefined without slots. */
  get slotBytes(): number | undefined {
    return highest([...this.#loops.values()].flatMap(({ state }) => state.slotBytes ?? []));
  }

  start(): void {
    this.#leases.start();
    this.#record();
  }

  /** Waits for pages in progress, and lets other processes continue at once. */
  async stop(): Promise<void> {
    await this.#leases.stop();
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop()));
    const { database, log } = this.#dependencies;
    await releaseSources(database.kysely, this.#owner).catch((error: unknown) =>
      log.info({ err: error }, 'leases of outboxes end by themselves'),
    );
  }

  readonly #record = (): void => {
    void this.#leases.runNow();
  };

  async #lease(): Promise<void> {
    const { database, key } = this.#dependencies;
    const readings = [...this.#loops.values()].map((loop) => loop.reading());
    const leased = await leaseSources(database.kysely, key, this.#owner, maxSources, readings);
    const now = new Set(leased.map(({ incarnation }) => incarnation));
    for (const [incarnation, loop] of this.#loops) if (!now.has(incarnation)) void loop.stop();
    for (const source of leased) {
      const known = this.#loops.get(source.incarnation);
      const loop = known ?? new SourceLoop(this.#dependencies, source, this.#record);
      loop.update(source);
      if (known !== undefined) continue;
      this.#loops.set(source.incarnation, loop);
      void loop.run().finally(() => this.#loops.delete(source.incarnation));
    }
  }
}

function highest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}

interface Opened extends Awaited<ReturnType<typeof openTable>> {
  /** As it was then. */
  readonly source: OpenSource;
}

/** Reads one source until its lease is lost. */
class SourceLoop {
  state: SourceState;
  readonly #dependencies: OutboxReaderDependencies;
  readonly #record: () => void;
  /** As of the last lease. */
  #source: OpenSource;
  #opened: Opened | undefined;
  #describeAt = 0;
  #stream: ReplicationStream | undefined;
  #replicateAt = 0;
  /** Streamed ids of rows to look up; the table is scanned for further ones. */
  readonly #ids = new Set<string>();
  #scanAt = 0;
  /** Ends the pause between looks. */
  readonly #news = new WakeSignal();
  /** Ends the time in which nothing else does: of its rate, or after a failure. */
  readonly #hold = new WakeSignal();
  #heldUntil = 0;
  #failures = 0;
  /** Consecutive pages of which no answer was written. */
  #unanswered = 0;
  #retried: readonly string[] | null = null;
  #countedAt = performance.now();
  #rowsLastMinute = 0;
  #stopped = false;
  #running: Promise<void> | undefined;

  /** @param record called when there is something to record at once */
  constructor(dependencies: OutboxReaderDependencies, source: OpenSource, record: () => void) {
    this.#dependencies = dependencies;
    this.#source = source;
    this.state = source.state;
    this.#record = record;
  }

  get name(): string {
    return `${this.#source.accountId}/${this.#source.id}`;
  }

  get lagSeconds(): number {
    const { drainedAt = this.#source.createdAt } = this.state;
    return Math.max(0, (Date.now() - new Date(drainedAt).getTime()) / 1_000);
  }

  /** What to record with its lease. */
  reading(): SourceReading {
    const retried = this.#retried;
    this.#retried = null;
    this.#stream?.acknowledge();
    return { incarnation: this.#source.incarnation, state: this.state, retried };
  }

  update(source: OpenSource): void {
    const isChanged = source.url !== this.#source.url || source.after !== this.#source.after;
    this.#source = source;
    if (isChanged || source.retryIds !== null) this.lookNow();
  }

  /** Saving a source is also how people retry it. */
  lookNow(): void {
    this.#failures = 0;
    this.#heldUntil = 0;
    this.#scanAt = 0;
    this.#hold.ring();
    this.#news.ring();
  }

  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  stop(): Promise<void> {
    this.#stopped = true;
    this.lookNow();
    return this.run();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#news.wait(await this.#look());
      const heldMs = this.#heldUntil - performance.now();
      if (heldMs > 0) await this.#hold.wait(heldMs);
    }
    this.#close();
  }

  /** Reads a page. @returns milliseconds until the next one, unless there is news */
  async #look(): Promise<number> {
    const { log } = this.#dependencies;
    const before = this.state;
    let failure: ReturnType<typeof describeFailure> | undefined;
    let pauseMs = 0;
    try {
      pauseMs = await this.#readPage(performance.now());
      this.#failures = 0;
      if (this.#unanswered >= maxUnanswered) failure = notAnswered;
    } catch (error) {
      failure = describeFailure(error);
      // Its connection isn't why a Fault passes.
      if (!(error instanceof Fault)) this.#close();
      this.#scanAt = 0;
      this.#heldUntil = performance.now() + Math.min(1_000 * 2 ** this.#failures, maxBackoffMs);
      this.#failures += 1;
    }
    const now = new Date().toISOString();
    const { name = null, detail = null } = failure ?? {};
    const times =
      name === null
        ? { readAt: now, failingSince: null }
        : { failingSince: before.failingSince ?? now };
    this.state = { ...this.state, ...times, failure: name, failureDetail: detail };
    if (detail !== before.failureDetail) this.#record();
    const context = { source: this.name, ...failure };
    if (name !== null && name !== before.failure) log.warn(context, 'an outbox can’t be read');
    else if (name === null && before.failure !== null) log.info(context, 'an outbox is read again');
    return pauseMs;
  }

  async #readPage(startedAt: number): Promise<number> {
    const { accountId, rowsPerSecond, retryIds } = this.#source;
    const { accounts } = this.#dependencies;
    const account = await Promise.resolve(accounts.account(accountId)).catch(throwFault);
    if (account === undefined || account.suspended) throw new Fault('ACCOUNT_SUSPENDED');
    const table = await this.#open();
    if (retryIds !== null) {
      await table.retry(retryIds);
      this.#source = { ...this.#source, retryIds: null };
      this.#retried = retryIds;
      this.#record();
    }
    const stream = this.#stream?.isStreaming === true ? this.#stream : undefined;
    const isScan = stream === undefined || startedAt >= this.#scanAt;
    const ids = isScan ? undefined : this.#ids.values().take(maxPageRows).toArray();
    for (const id of ids ?? []) this.#ids.delete(id);
    const page = await readPage(this.#dependencies, account, this.#source, table, ids);
    const { rows, answered, failed } = page;
    if (isScan && rows.length === 0) {
      const idleMs = stream === undefined ? pollMs : streamedPollMs;
      this.#scanAt = startedAt + Math.max(idleMs, (performance.now() - startedAt) / scanShare);
    } else if (ids !== undefined && rows.length < ids.length) {
      // Others see a row a moment after its commit is streamed.
      this.#scanAt = 0;
    }
    if (isScan && stream !== undefined) await this.#checkSlot(table, stream);
    const hasMore = startedAt >= this.#scanAt || this.#ids.size > 0;
    const pacedMs = (rows.length / rowsPerSecond) * 1_000;
    this.#heldUntil = startedAt + Math.max(hasMore ? 0 : minPauseMs, pacedMs);
    this.#unanswered = rows.length > 0 && answered === 0 ? this.#unanswered + 1 : 0;
    const others = this.state.failedRows.filter(({ id }) => !rows.some((row) => row.id === id));
    const kept = Math.exp((this.#countedAt - startedAt) / 60_000);
    this.#countedAt = startedAt;
    this.#rowsLastMinute = this.#rowsLastMinute * kept + answered;
    this.state = {
      ...this.state,
      ...(!hasMore && { drainedAt: new Date().toISOString() }),
      reading: stream === undefined ? 'polling' : 'replication',
      slotBytes: stream === undefined ? null : this.state.slotBytes,
      rowsLastMinute: Math.round(this.#rowsLastMinute),
      failedRows: [...failed, ...others].slice(0, maxFailedRows),
    };
    const isStuck = answered === 0 && (rows.length > 0 || !isScan);
    if (isStuck) return isScan ? pollMs : lookAgainMs;
    return hasMore ? 0 : Math.max(0, this.#scanAt - performance.now());
  }

  /** Drops a slot before the WAL that it holds back fills the account's disk. */
  async #checkSlot(table: OutboxTable, stream: ReplicationStream): Promise<void> {
    const slotBytes = await table.slotBytes(stream.slot);
    const isNews = slotBytes > maxSlotBytes / 2 && (this.state.slotBytes ?? 0) <= maxSlotBytes / 2;
    this.state = { ...this.state, slotBytes };
    const isDropped = slotBytes > maxSlotBytes;
    if (isDropped || isNews)
      this.#dependencies.log.warn(
        { source: this.name, slotBytes, isDropped },
        'the replication slot of an outbox holds back much WAL',
      );
    if (!isDropped) return;
    stream.client.close();
    this.#replicateAt = performance.now() + slotPauseMs;
  }

  async #open(): Promise<OutboxTable> {
    const source = this.#source;
    const before = this.#opened;
    if (
      before?.table.client.isOpen() !== true ||
      before.source.url !== source.url ||
      before.source.after !== source.after
    ) {
      this.#close();
      const opened = await openTable(source, this.#dependencies, () => this.#news.ring());
      this.#opened = { ...opened, source };
      this.#describeAt = 0;
    }
    const { table, replicate } = this.#opened as Opened;
    if (performance.now() < this.#describeAt) return table;
    const published = await table.describe();
    this.#describeAt = performance.now() + describeMs;
    const isWanted = published.publication != null && performance.now() >= this.#replicateAt;
    if (isWanted && this.#stream?.client.isOpen() !== true)
      void this.#replicate(table, replicate, published);
    return table;
  }

  /** Starts a stream; until it is there, and where it is refused, the table is polled. */
  async #replicate(
    table: OutboxTable,
    replicate: Opened['replicate'],
    published: TextRow,
  ): Promise<void> {
    try {
      const client = await replicate();
      if (this.#opened?.table !== table) return client.close();
      const stream = new ReplicationStream(client, published, (id) => {
        if (this.#ids.size < maxIds && id.length <= maxIdLength) this.#ids.add(id);
        else this.#scanAt = 0;
        this.#news.ring();
      });
      this.#stream = stream;
      await stream.start();
      this.#scanAt = 0;
      this.#news.ring();
    } catch (error) {
      this.#stream?.client.close();
      const context = { err: error, source: this.name };
      this.#dependencies.log.info(context, 'an outbox is polled: its server refuses replication');
    }
  }

  #close(): void {
    this.#opened?.table.client.close();
    this.#stream?.client.close();
    this.#opened = undefined;
    this.#stream = undefined;
    this.#ids.clear();
  }
}
