import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { countRows, makeTemporaryFolder, openBenchFolder } from '../../bench/bench-database.ts';
import { benchMasterKey } from '../../bench/bench-service.ts';
import { drainQueue } from '../../bench/chaos/drain-queue.ts';
import { type RoughSink, startRoughSink } from '../../bench/chaos/rough-sink.ts';
import { processTree, signalAll } from '../../bench/machine-use.ts';
import { migrate } from '../../src/base/database/migrate.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { runInProcess } from '../../test/support/run-command.ts';
import { type Running, runSignalpost } from '../../test/support/run-signalpost.ts';
import { openShop } from '../../test/support/shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { CustomerDatabase, Outcome } from './customer-database.ts';

const rolledBackShare = 0.15;
const maxRowsOfTransaction = 3;
const writersPerSource = 6;
/** What a source that was away gets later; older rows are never written. */
const maxBacklogSeconds = 15;
/** Without progress; the last lease has to end, and the last failure can let a source wait for a minute. */
const drainTimeoutMs = 300_000;
const queueTimeoutMs = 30_000;
const stopTimeoutMs = 40_000;
const reportMs = 15_000;

/** A process of the service that is started again whenever it is killed. */
export class ServiceNode {
  readonly #roles: string;
  readonly #environment: Record<string, string>;
  #running: Running | undefined;

  constructor(roles: string, environment: Record<string, string>) {
    this.#roles = roles;
    this.#environment = environment;
  }

  async start(): Promise<void> {
    const args = ['serve', '--processes', '1', '--role', this.#roles];
    this.#running = runSignalpost(args, this.#environment);
    await this.#running.printed(/running/i);
  }

  /** @throws Error if it ended by itself */
  async requireRunning(): Promise<void> {
    const { exit, output } = this.#running ?? {};
    const ended = await Promise.race([exit, delay(0)]);
    assert.equal(ended, undefined, `${this.#roles}: ${output?.stderr}`);
  }

  signal(signal: NodeJS.Signals): void {
    signalAll(processTree(this.#running?.child.pid ?? 0), signal);
  }

  /** Ends it like a crash, and starts it again. */
  async kill(): Promise<void> {
    await this.requireRunning();
    this.signal('SIGKILL');
    await this.#running?.exit;
    await delay(500);
    await this.start();
  }

  async stop(): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const force = setTimeout(() => this.signal('SIGKILL'), stopTimeoutMs);
    await this.#running?.exit;
    clearTimeout(force);
  }
}

/** Inserts rows into a source at a steady rate, and remembers what became of them. */
class RowWriter {
  readonly outcomes = new Map<string, Outcome>();
  readonly #source: CustomerDatabase;
  readonly #rate: number;
  readonly #running: Promise<void>[];
  #isStopping = false;
  #number = 0;
  #due = 0;
  #countedAt = performance.now();

  /** @param rate rows a second */
  constructor(source: CustomerDatabase, rate: number) {
    this.#source = source;
    this.#rate = rate;
    this.#running = Array.from({ length: writersPerSource }, () => this.#run());
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const rows = Math.ceil(Math.random() * maxRowsOfTransaction);
      if (!this.#take(rows)) {
        await delay(20);
        continue;
      }
      const recipients = Array.from({ length: rows }, () => {
        this.#number += 1;
        return `row-${this.#number}@${this.#source.name}.test`;
      });
      const outcome = await this.#source.insert(recipients, Math.random() >= rolledBackShare);
      if (outcome === 'not begun') {
        this.#due += rows;
        await delay(200);
      } else for (const recipient of recipients) this.outcomes.set(recipient, outcome);
    }
  }

  /** Whether so many rows are due. */
  #take(rows: number): boolean {
    const now = performance.now();
    this.#due += ((now - this.#countedAt) / 1_000) * this.#rate;
    this.#due = Math.min(this.#due, this.#rate * maxBacklogSeconds);
    this.#countedAt = now;
    if (this.#due < rows) return false;
    this.#due -= rows;
    return true;
  }
}

type Mails = ReadonlyMap<string, readonly { readonly id: string; readonly copies: number }[]>;

/** What is wrong with rows, by their recipients. */
class Verdict {
  readonly lost: string[] = [];
  /** More often than the events of its message say. */
  readonly doubled: string[] = [];
  readonly rolledBackButMailed: string[] = [];
  /** Or with another message than the mail's. */
  readonly notAccepted: string[] = [];
  /** The database's server has another outcome than it told the writer. */
  readonly otherOutcome: string[] = [];
  #committed = 0;
  #repeated = 0;

  async judge(
    source: CustomerDatabase,
    outcomes: ReadonlyMap<string, Outcome>,
    mailed: Mails,
    uncertain: ReadonlyMap<string, number>,
  ): Promise<void> {
    const rows = new Map((await source.rows()).map((row) => [row.to_address, row]));
    this.#committed += rows.size;
    for (const [recipient, outcome] of outcomes) {
      const isKept = rows.has(recipient);
      if (outcome !== 'unknown' && isKept !== (outcome === 'committed'))
        this.otherOutcome.push(recipient);
      if (!isKept && mailed.has(recipient)) this.rolledBackButMailed.push(recipient);
    }
    for (const [recipient, { status, message_id: id }] of rows) {
      const mails = mailed.get(recipient) ?? [];
      const [mail] = mails;
      if (mail === undefined) this.lost.push(recipient);
      else if (mails.length > 1 || mail.copies > 1 + (uncertain.get(mail.id) ?? 0))
        this.doubled.push(recipient);
      else if (mail.copies > 1) this.#repeated += 1;
      if (status !== 'accepted' || (mail !== undefined && id !== mail.id))
        this.notAccepted.push(recipient);
    }
  }

  counts() {
    return {
      committed: this.#committed,
      lost: this.lost.length,
      doubled: this.doubled.length,
      rolledBackButMailed: this.rolledBackButMailed.length,
      notAccepted: this.notAccepted.length,
      otherOutcome: this.otherOutcome.length,
      /** As their events say, because their process was killed after the dot. */
      repeatedAsRecorded: this.#repeated,
    };
  }

  /** What is wrong, with some of the rows. */
  findings(): string[] {
    const { lost, doubled, rolledBackButMailed, notAccepted, otherOutcome } = this;
    return Object.entries({ lost, doubled, rolledBackButMailed, notAccepted, otherOutcome })
      .filter(([, recipients]) => recipients.length > 0)
      .map(([kind, recipients]) => `${recipients.length} ${kind}: ${recipients.slice(0, 10)}`);
  }
}

/** A line on the progress of a test that takes minutes. */
export function say(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

/** How each source is read, or why it isn't. */
async function readStates({ pool }: Database): Promise<Record<string, string | null>> {
  const { rows } = await pool.query<{ id: string; reading: string | null }>(
    `select id, coalesce(state ->> 'failure', state ->> 'reading') as reading from outbox_source`,
  );
  return Object.fromEntries(rows.map(({ id, reading }) => [id, reading]));
}

/** Resolves once a count is 0, or hasn't shrunk for a time. */
async function waitForNone(count: () => Promise<number>, timeoutMs: number): Promise<void> {
  let fewest = Number.POSITIVE_INFINITY;
  let deadline = Date.now() + timeoutMs;
  while (fewest > 0 && Date.now() < deadline) {
    const left = await count().catch(() => fewest);
    if (left < fewest) deadline = Date.now() + timeoutMs;
    fewest = Math.min(fewest, left);
    await delay(1_000);
  }
}

/** A service that reads outboxes into which rows are written, two nodes that read, and a receiver that counts each mail. */
export class OutboxProof implements AsyncDisposable {
  readonly readers: readonly [ServiceNode, ServiceNode];
  /** The readers, and the one with the other roles. */
  readonly nodes: readonly ServiceNode[];
  readonly #closing: AsyncDisposableStack;
  readonly #database: Database;
  readonly #accountId: AccountId;
  readonly #sink: RoughSink;
  readonly #sources: readonly CustomerDatabase[];
  #writers: readonly RowWriter[] = [];
  #startedAt = 0;

  private constructor(
    closing: AsyncDisposableStack,
    database: Database,
    accountId: AccountId,
    sink: RoughSink,
    sources: readonly CustomerDatabase[],
    readers: readonly [ServiceNode, ServiceNode],
    rest: ServiceNode,
  ) {
    this.#closing = closing;
    this.#database = database;
    this.#accountId = accountId;
    this.#sink = sink;
    this.#sources = sources;
    this.readers = readers;
    this.nodes = [...readers, rest];
  }

  /** Resolves once the sources are read. @param settings of the service, beside those of the proof */
  static async open(
    sources: readonly CustomerDatabase[],
    settings: Readonly<Record<string, string>> = {},
  ): Promise<OutboxProof> {
    await using closing = new AsyncDisposableStack();
    const folder = closing.use(await makeTemporaryFolder());
    // It isn't killed.
    const stored = await openBenchFolder(folder.path, { durable: false, maxConnections: 3 });
    const { url, database } = closing.use(stored);
    await migrate(database);
    const shop = await openShop(database);
    const sink = await startRoughSink();
    closing.defer(() => void sink.stop());
    sink.behave();
    const environment = {
      DATABASE_URL: url,
      SIGNALPOST_KEY: benchMasterKey,
      PORT: '0',
      LOG_LEVEL: 'warn',
      SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off&connections=10`,
      OUTBOX_NETWORKS: '127.0.0.0/8',
      ...settings,
    };
    for (const source of sources) {
      const args = ['outbox', 'add', shop.id, source.name, '--table', source.table];
      const added = await runInProcess(args, environment, source.url);
      assert.equal(added.code, 0, added.err);
    }
    const makeNode = (roles: string): ServiceNode => {
      const node = new ServiceNode(roles, environment);
      closing.defer(() => node.stop());
      return node;
    };
    const readers = [makeNode('outbox'), makeNode('outbox')] as const;
    const rest = makeNode('http,management,worker');
    for (const node of [...readers, rest]) await node.start();
    await waitFor('all sources to be read', async () => {
      const states = Object.values(await readStates(database));
      return states.every((state) => state === 'replication' || state === 'polling');
    });
    return new OutboxProof(closing.move(), database, shop.id, sink, sources, readers, rest);
  }

  /** @param rate rows a second into each source */
  startWriting(rate: number): void {
    this.#startedAt = Date.now();
    this.#writers = this.#sources.map((source) => new RowWriter(source, rate));
    const reporting = setInterval(() => void this.#report(), reportMs);
    this.#closing.defer(() => clearInterval(reporting));
  }

  /** Stops writing, lets everything be answered and mailed, and compares each mail with what was committed. */
  async finish() {
    await Promise.all(this.#writers.map((writer) => writer.stop()));
    const seconds = (Date.now() - this.#startedAt) / 1_000;
    await waitForNone(() => this.#countWaiting(), drainTimeoutMs);
    // A retry is recorded for each message, so most of them go first.
    await waitForNone(() => countRows(this.#database, 'queue_entry'), queueTimeoutMs);
    const stillWaiting = await drainQueue(this.#database, [this.#accountId], drainTimeoutMs);
    const uncertain = await this.#readUncertain();
    const mailed = this.#readMails();
    const verdict = new Verdict();
    for (const [index, source] of this.#sources.entries())
      await verdict.judge(source, this.#writers[index]?.outcomes ?? new Map(), mailed, uncertain);
    const outcomes = this.#writers.flatMap((writer) => [...writer.outcomes.values()]);
    const count = (outcome: Outcome) => outcomes.filter((each) => each === outcome).length;
    return {
      counts: {
        rows: outcomes.length,
        rolledBack: count('rolled back'),
        /** Because the server was killed during the commit. */
        unknown: count('unknown'),
        mails: mailed.size,
        ...verdict.counts(),
        stillWaiting,
        rowsPerSecond: Math.round(outcomes.length / seconds),
        minutes: Math.round(seconds / 6) / 10,
      },
      /** Empty: each committed row was mailed once and answered, and no other. */
      findings: [
        ...verdict.findings(),
        ...(stillWaiting === 0 ? [] : [`${stillWaiting} messages still wait`]),
      ],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.stop()));
    await this.#closing.disposeAsync();
  }

  async #countWaiting(): Promise<number> {
    const counts = await Promise.all(this.#sources.map((source) => source.countWaiting()));
    return counts.reduce((sum, each) => sum + each, 0);
  }

  /** Attempts of unknown outcome, by message. */
  async #readUncertain(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#database.pool.query<{ id: string; count: number }>(
      `select message_id as id, count(distinct detail ->> 'attempt')::int as count
       from message_event where kind = 'uncertain' group by message_id`,
    );
    return new Map(rows.map(({ id, count }) => [id, count]));
  }

  /** Messages and their copies, by recipient. */
  #readMails(): Mails {
    const mails = new Map<string, { readonly id: string; readonly copies: number }[]>();
    for (const [copy, { length: copies }] of this.#sink.received) {
      const [id = '', recipient = ''] = copy.split(' ');
      mails.set(recipient, [...(mails.get(recipient) ?? []), { id, copies }]);
    }
    return mails;
  }

  async #report(): Promise<void> {
    const rows = this.#writers.reduce((sum, { outcomes }) => sum + outcomes.size, 0);
    const waiting = await this.#countWaiting().catch(() => '?');
    const states = await readStates(this.#database).catch(() => ({}));
    const mails = this.#sink.received.size;
    say(`${rows} rows, ${waiting} without an answer, ${mails} mails, ${JSON.stringify(states)}`);
  }
}
