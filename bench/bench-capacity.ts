import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../src/base/database/open-database.ts';
import { getToken } from '../test/support/shop.ts';
import { openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { type BenchService, startServe } from './bench-service.ts';
import { multiplyAccounts } from './copy-rows.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { waitForFollowers, waitUntilQueueEmpty } from './deliver/letter-account.ts';
import type { LoadReport } from './load-generator.ts';
import { measureUse, usePerRequest } from './machine-use.ts';
import { LoadTally } from './tally.ts';

const connections = 64;
/** Of all processes. */
const sinkConnections = 40;
const warmUpSeconds = 2;
/** At a low rate, a run must be long enough for several hundred messages. */
const minSecondsAtRate = 20;
const idleSeconds = 20;
/** After a burst, PostgreSQL writes and vacuums what was left dirty. */
const settleSeconds = 30;
interface CapacityCase {
  readonly accounts: number;
  /** Messages a second; default: as fast as they are accepted. */
  readonly rate?: number;
  /** Default: 1. */
  readonly nodes?: number;
  /** Of each node. Default: one for each core. */
  readonly processes?: number;
}

const cases: readonly CapacityCase[] = [
  { accounts: 1 },
  { accounts: 200 },
  { accounts: 1, rate: 100 },
  { accounts: 200, rate: 400 },
];
const nodeCases: readonly CapacityCase[] = [
  { accounts: 1, nodes: 1, processes: 1 },
  { accounts: 1, nodes: 1, processes: 2 },
  { accounts: 1, nodes: 1, processes: 4 },
  { accounts: 1, nodes: 3, processes: 1 },
];

/** What a message costs from acceptance to the last follower, and what an idle service costs per second. */
export function benchCapacity(options: BenchOptions): Promise<BenchResult[]> {
  return measureAll(cases, options);
}

/** What more processes and nodes add to the cost of a message. */
export function benchCapacityNodes(options: BenchOptions): Promise<BenchResult[]> {
  return measureAll(nodeCases, options);
}

async function measureAll(
  all: readonly CapacityCase[],
  options: BenchOptions,
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const one of all) results.push(...(await measureCapacity(one, options)));
  return results;
}

async function measureCapacity(
  { accounts, rate, nodes: nodeCount, processes }: CapacityCase,
  { seconds, nodeOptions }: BenchOptions,
): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const { database } = bench;
  const shop = await openBenchAccount(database);
  const accountIds = accounts === 1 ? [shop.id] : await multiplyAccounts(database, shop, accounts);
  using sink = await BenchSink.start();
  await using stack = new AsyncDisposableStack();
  const count = nodeCount ?? 1;
  const all = count * (processes ?? availableParallelism());
  const smtpUrl = sink.smtpUrl(Math.floor(sinkConnections / all));
  const nodes: BenchService[] = [];
  for (let node = 0; node < count; node += 1)
    nodes.push(stack.use(await startServe(bench, { smtpUrl, nodeOptions, processes })));
  const token = await getToken({ url: nodes[0]?.url ?? '' }, shop);
  const requests = wireRequests({ token, accountIds });
  const loads = nodes.map(
    (node) => new LoadTally(node, { connections: Math.floor(connections / count), rate, requests }),
  );
  const load = async (duration: number): Promise<Pick<LoadReport, 'answered' | 'seconds'>> => {
    const reports = await Promise.all(loads.map((one) => one.run(duration)));
    return {
      answered: reports.reduce((sum, { answered }) => sum + answered, 0),
      seconds: Math.max(...reports.map(({ seconds: taken }) => taken)),
    };
  };
  const pids = { service: nodes.map(({ pid }) => pid), database: bench.pid };
  const settle = async () => {
    // Rarely, because the query itself costs the database time.
    await waitUntilQueueEmpty(database, 100);
    await waitForFollowers(database);
  };
  await load(warmUpSeconds);
  await settle();
  const before = await readTotals(database);
  const started = performance.now();
  const { result: report, use } = await measureUse(pids, async () => {
    const sent = await load(rate === undefined ? seconds : Math.max(seconds, minSecondsAtRate));
    await settle();
    return sent;
  });
  const throughSeconds = (performance.now() - started) / 1_000;
  const after = await readTotals(database);
  const each = (total: keyof Totals) => (after[total] - before[total]) / report.answered;
  const isSpread = nodeCount !== undefined;
  const result = makeResult(
    isSpread ? 'capacity-nodes' : 'capacity',
    { accounts, rate: rate ?? 'burst', ...(isSpread && { nodes: nodeCount, processes }) },
    {
      rate: report.answered / report.seconds,
      ...usePerRequest(use, report.answered),
      wal_bytes: Math.round(each('wal')),
      kept_bytes: Math.round(each('size')),
      commits: Number(each('commits').toFixed(2)),
      ...(rate === undefined && {
        through_per_second: Math.round(report.answered / throughSeconds),
        follow_us: await measureFollowers(),
      }),
    },
  );
  if (rate !== undefined || isSpread) return [result];
  return accounts === 1 ? [result, await measureIdle()] : [result];

  /** Microseconds per message that followers need to catch up with a backlog delivered while they were stopped. */
  async function measureFollowers(): Promise<number> {
    const holder = await database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from feed_cursor for update');
      const { answered } = await load(seconds);
      await waitUntilQueueEmpty(database, 100);
      const released = performance.now();
      await holder.query('commit');
      await waitForFollowers(database);
      return Math.round(((performance.now() - released) * 1_000) / answered);
    } finally {
      holder.release();
    }
  }

  /** Per second instead of per message. */
  async function measureIdle(): Promise<BenchResult> {
    await delay(settleSeconds * 1_000);
    const start = await readTotals(database);
    const { use: idle } = await measureUse(pids, () => delay(idleSeconds * 1_000));
    const end = await readTotals(database);
    const of = (total: keyof Totals) => (end[total] - start[total]) / idleSeconds;
    return makeResult(
      'capacity-idle',
      { seconds: idleSeconds },
      {
        ...usePerRequest(idle, idleSeconds),
        wal_bytes: Math.round(of('wal')),
        commits: Number(of('commits').toFixed(2)),
      },
    );
  }
}

interface Totals {
  readonly wal: number;
  readonly size: number;
  readonly commits: number;
}

async function readTotals({ pool }: Database): Promise<Totals> {
  const { rows } = await pool.query(
    `select (pg_current_wal_lsn() - '0/0')::float8 as wal, pg_database_size(current_database())::float8 as size,
       (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits`,
  );
  return rows[0];
}
