import type { AccountDirectory } from '../../accounts/account/account-directory.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { HostNames } from '../../base/dns/host-names.ts';
import { connectToStranger } from '../../base/network/guarded-postgres.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import { Fault } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { WakeSignal } from '../../sending/queue/wake-signal.ts';
import {
  claimSources,
  type LeasedSource,
  outboxSourceTopic,
  releaseSource,
  renewLease,
  type SourceReading,
} from '../source/outbox-source-store.ts';
import { parseSourceUrl } from '../source/source-url.ts';
import { describeFailure } from './describe-failure.ts';
import { maxAnswerBytes, OutboxTable, TableProblem } from './outbox-table-store.ts';
import { type ReadPageDependencies, readPage, throwFault } from './read-page.ts';

export interface OutboxReaderDependencies extends ReadPageDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly log: Log;
  readonly accounts: Pick<AccountDirectory, 'account'>;
  readonly networks: PublicNetworks;
  readonly hostNames: HostNames;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
}

/** Sources that a process reads; each has a connection. */
const maxSources = 100;
/** Between looks for sources that no process reads. */
const claimMs = 2_000;
/** A fifth of a lease. */
const renewMs = 3_000;
/** Between looks at a table without, and with, a trigger that notifies of inserts. */
const pollMs = 1_000;
const notifiedPollMs = 5_000;
/** Notifications in quick succession share a look. */
const minPauseMs = 20;
/** Added columns and triggers are found after this time; missing ones at once. */
const describeMs = 60_000;
const maxBackoffMs = 60_000;
/** Transactions of the account may hold rows for a while. */
const maxUnanswered = 10;
const notAnswered = {
  name: 'ANSWERS_NOT_WRITTEN',
  detail: 'the rows stay locked, or a trigger discards their answers',
};

/**
 * Reads sources under leases: each has one reader, and another process takes over if it ends. Where two overlap, the keys of the
 * rows let each be sent once. How a source is read is up to `OutboxTable`.
 */
export class OutboxReader {
  readonly #dependencies: OutboxReaderDependencies;
  readonly #owner = newId();
  readonly #sources = new Map<string, SourceLoop>();
  readonly #claims: PeriodicTask;
  #stopping = false;

  constructor(dependencies: OutboxReaderDependencies) {
    this.#dependencies = dependencies;
    this.#claims = new PeriodicTask(claimMs, () => this.#claim(), {
      onError: (error) =>
        dependencies.log.warn({ err: error }, 'could not look for outbox sources'),
    });
    dependencies.changes.subscribe(outboxSourceTopic, (name) => {
      for (const [own, loop] of this.#sources)
        if (name === '*' || own.startsWith(`${name} `)) loop.renewNow();
      void this.#claims.runNow();
    });
  }

  /** Seconds for which the source that is furthest behind has had rows to read; undefined without sources. */
  get lagSeconds(): number | undefined {
    const lags = [...this.#sources.values()].map((loop) => loop.lagSeconds);
    return lags.length === 0 ? undefined : Math.max(...lags);
  }

  start(): void {
    this.#claims.start();
    void this.#claims.runNow();
  }

  /** Waits for pages in progress, and lets other processes continue at once. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#claims.stop();
    await Promise.all([...this.#sources.values()].map((loop) => loop.stop()));
  }

  async #claim(): Promise<void> {
    const { database, key } = this.#dependencies;
    const free = maxSources - this.#sources.size;
    if (free <= 0 || this.#stopping) return;
    for (const source of await claimSources(database.kysely, key, this.#owner, free)) {
      const name = `${source.accountId}/${source.id} ${source.incarnation}`;
      if (this.#sources.has(name)) continue;
      const loop = new SourceLoop(this.#dependencies, this.#owner, source);
      this.#sources.set(name, loop);
      void loop.run().finally(() => this.#sources.delete(name));
    }
  }
}

/** Reads one source until its lease is lost. */
class SourceLoop {
  readonly #dependencies: OutboxReaderDependencies;
  readonly #owner: string;
  readonly #wake = new WakeSignal();
  #source: LeasedSource;
  #table: OutboxTable | undefined;
  #notifies = false;
  #describedAt = 0;
  #reading: SourceReading = { isDrained: false, failure: undefined };
  #failures = 0;
  #drainedAt: number;
  #lookAt = 0;
  /** Rows may have been inserted since the last look began. */
  #notified = false;
  /** Its rate allows no look before. */
  #pacedUntil = 0;
  /** Consecutive pages of which no answer was written. */
  #unanswered = 0;
  #renewAt = performance.now() + renewMs;
  #stopped = false;
  #running: Promise<void> | undefined;

  constructor(dependencies: OutboxReaderDependencies, owner: string, source: LeasedSource) {
    this.#dependencies = dependencies;
    this.#owner = owner;
    this.#source = source;
    this.#drainedAt = performance.now() - source.lagSeconds * 1_000;
  }

  get lagSeconds(): number {
    return this.#reading.isDrained ? 0 : (performance.now() - this.#drainedAt) / 1_000;
  }

  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Finds that the source was changed or removed; saving it is also how people retry it. */
  renewNow(): void {
    this.#renewAt = 0;
    this.#lookAt = this.#pacedUntil;
    this.#wake.ring();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { database, log } = this.#dependencies;
    const { accountId, id } = this.#source;
    const context = { accountId, source: id };
    while (!this.#stopped) {
      try {
        if (performance.now() >= this.#renewAt && !(await this.#renew())) break;
        if (performance.now() >= this.#lookAt) await this.#look();
      } catch (error) {
        log.warn(
          { err: error, ...context },
          'could not record how far an outbox is read; retrying',
        );
        this.#renewAt = performance.now() + renewMs;
      }
      await this.#wake.wait(Math.max(0, Math.min(this.#lookAt, this.#renewAt) - performance.now()));
    }
    this.#close();
    await releaseSource(database.kysely, this.#owner, this.#source).catch((error) =>
      log.warn({ err: error, ...context }, 'could not release an outbox; its lease ends soon'),
    );
  }

  /** @returns false if the source is another process's now */
  async #renew(): Promise<boolean> {
    const { database, key } = this.#dependencies;
    const { kysely } = database;
    const now = await renewLease(kysely, key, this.#owner, this.#source, this.#reading);
    this.#renewAt = performance.now() + renewMs;
    if (now === undefined) return false;
    if (now.url !== this.#source.url) {
      this.#close();
      this.#failures = 0;
      this.#lookAt = 0;
    }
    this.#source = now;
    return true;
  }

  /** Reads a page, and decides when to read the next one. */
  async #look(): Promise<void> {
    const { log } = this.#dependencies;
    const { accountId, id, rowsPerSecond } = this.#source;
    const startedAt = performance.now();
    const before = this.#reading;
    this.#notified = false;
    try {
      const { read, answered } = await this.#readPage();
      const idleMs = this.#notifies ? notifiedPollMs : pollMs;
      this.#failures = 0;
      this.#unanswered = read > 0 && answered === 0 ? this.#unanswered + 1 : 0;
      const failure = this.#unanswered < maxUnanswered ? undefined : notAnswered;
      this.#reading = { isDrained: read === 0, failure };
      if (read === 0) this.#drainedAt = performance.now();
      this.#pacedUntil = startedAt + (read / rowsPerSecond) * 1_000;
      this.#lookAt = answered === 0 ? startedAt + idleMs : this.#pacedUntil;
      if (this.#notified) this.#lookNow();
    } catch (error) {
      // Its connection isn't why a Fault passes.
      if (!(error instanceof Fault)) this.#close();
      this.#failures += 1;
      const backoffMs = Math.min(1_000 * 2 ** (this.#failures - 1), maxBackoffMs);
      this.#lookAt = performance.now() + backoffMs;
      this.#reading = { isDrained: false, failure: describeFailure(error) };
    }
    const { failure } = this.#reading;
    if (failure?.detail !== before.failure?.detail) this.#renewAt = 0;
    if (failure?.name === before.failure?.name) return;
    this.#renewAt = 0;
    const context = { accountId, source: id };
    if (failure === undefined) log.info(context, 'an outbox is read again');
    else log.warn({ ...context, ...failure }, 'an outbox can’t be read; retrying');
  }

  async #readPage() {
    const { accountId } = this.#source;
    const { accounts } = this.#dependencies;
    const account = await Promise.resolve(accounts.account(accountId)).catch(throwFault);
    if (account === undefined || account.suspended) throw new Fault('ACCOUNT_SUSPENDED');
    return readPage(this.#dependencies, account, this.#source, await this.#open());
  }

  async #open(): Promise<OutboxTable> {
    const { networks, hostNames } = this.#dependencies;
    if (this.#table === undefined) {
      const parsed = parseSourceUrl(this.#source.url, networks);
      if ('reason' in parsed) throw new TableProblem('URL_NOT_ALLOWED', `the URL ${parsed.reason}`);
      let table: OutboxTable | undefined;
      const client = await connectToStranger(parsed.server, networks, hostNames, {
        applicationName: 'signalpost outbox',
        maxAnswerBytes,
        onNotify: () => this.#lookNow(),
        onEnd: () => {
          if (table === undefined || this.#table !== table) return;
          this.#table = undefined;
          this.#lookNow();
        },
      });
      table = new OutboxTable(client, this.#source.table);
      this.#table = table;
      this.#describedAt = 0;
      this.#notifies = false;
    }
    if (performance.now() - this.#describedAt > describeMs || this.#describedAt === 0) {
      const notifies = await this.#table.describe();
      if (notifies && !this.#notifies) await this.#table.listen();
      this.#notifies = notifies;
      this.#describedAt = performance.now();
    }
    return this.#table;
  }

  /** A failing source waits for its turn whatever its server sends. */
  #lookNow(): void {
    this.#notified = true;
    if (this.#failures > 0) return;
    const soon = Math.max(this.#pacedUntil, performance.now() + minPauseMs);
    this.#lookAt = Math.min(this.#lookAt, soon);
    this.#wake.ring();
  }

  #close(): void {
    this.#table?.close();
    this.#table = undefined;
  }
}
