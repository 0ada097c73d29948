import { availableParallelism } from 'node:os';
import type { Database } from '../src/foundation/database/open-database.ts';
import { getToken } from '../test/support/shop.ts';
import { openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { multiplyAccounts } from './copy-rows.ts';
import type { LoadReport } from './load-generator.ts';
import { runLoad } from './run-load.ts';
import { compare, Tally } from './tally.ts';

/** One line of the table. */
interface AcceptCase {
  /** Of the service: 1 as `npm start` runs it, one for each core as `serve` does. */
  readonly processes: number;
  readonly connections: number;
  readonly accounts: number;
  /** Idempotency keys, each new. */
  readonly keys: boolean;
  /** Of a request's body, at least. */
  readonly bodyBytes: number;
}

const defaultCase: AcceptCase = {
  processes: 1,
  connections: 128,
  accounts: 1,
  keys: false,
  bodyBytes: 0,
};
const cases: readonly AcceptCase[] = [
  { ...defaultCase, connections: 1 },
  { ...defaultCase, connections: 32 },
  defaultCase,
  { ...defaultCase, connections: 512 },
  { ...defaultCase, accounts: 1_000 },
  { ...defaultCase, keys: true },
  { ...defaultCase, bodyBytes: 50_000 },
  { ...defaultCase, processes: availableParallelism() },
];

const distinctRequests = 5_000;
/** Requests of 50 kB each would not fit the generator's memory in that number. */
const distinctCharacters = 20_000_000;

/**
 * Durable accepted requests per second at 128 connections, beside a POST of the same server that does nothing, measured
 * in turns so that both meet the same machine. Every accepted request is looked for in the database afterwards.
 */
export function benchAccept(options: BenchOptions): Promise<BenchResult[]> {
  return measureCases(options, [defaultCase]);
}

/** The same over numbers of connections, accounts and processes, with idempotency keys, and with large bodies. */
export function benchAcceptCases(options: BenchOptions): Promise<BenchResult[]> {
  return measureCases(options, cases);
}

async function measureCases(
  options: BenchOptions,
  wanted: readonly AcceptCase[],
): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const { url, database, pid } = bench;
  const shop = await openBenchAccount(database);
  const maxAccounts = Math.max(...wanted.map((one) => one.accounts));
  const accountIds = await multiplyAccounts(database, shop, maxAccounts);
  const results: BenchResult[] = [];
  for (const [processes, some] of Map.groupBy(wanted, (one) => one.processes)) {
    const { nodeOptions } = options;
    await using service = await startBenchService(url, { nodeOptions, processes });
    const token = await getToken(service, shop);
    const pids = { service: service.pid, database: pid };
    const target = { port: service.port, pids, accountIds, token, database };
    results.push(...(await measureInTurns(options, some, target)));
  }
  return results;
}

interface Target {
  readonly port: number;
  readonly pids: { readonly service: number; readonly database: number };
  readonly accountIds: readonly string[];
  readonly token: string;
  readonly database: Database;
}

/** Cases take turns, so that their rates meet the same machine and can be compared with each other. */
async function measureInTurns(
  { seconds, rounds, calm }: BenchOptions,
  wanted: readonly AcceptCase[],
  { port, pids, accountIds, token, database }: Target,
): Promise<BenchResult[]> {
  const load = (one: AcceptCase, path: string, length: number): Promise<LoadReport> => {
    const { bodyBytes, keys, connections } = one;
    const ids = accountIds.slice(0, one.accounts);
    const count = Math.min(
      distinctRequests,
      Math.ceil(distinctCharacters / Math.max(1, bodyBytes)),
    );
    const requests = wireRequests({ path, accountIds: ids, token, count, bodyBytes, keys });
    return runLoad({ port, connections, seconds: length, requests });
  };
  const before = await countMessages(database);
  let answered = 0;
  const tallies = wanted.map((one) => ({ one, accept: new Tally(), nothing: new Tally() }));
  for (const { one } of tallies) {
    // Until a run has asked for every account: what is asked for the first time comes from the database.
    for (let asked = 0; asked < one.accounts; ) {
      asked = (await load(one, '/ete/v1/email', seconds / 2)).answered;
      answered += asked;
    }
    await load(one, '/bench/nothing', seconds / 2);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { one, accept, nothing } of tallies) {
      await nothing.measure(calm, pids, () => load(one, '/bench/nothing', seconds));
      await accept.measure(calm, pids, async () => {
        const report = await load(one, '/ete/v1/email', seconds);
        answered += report.answered;
        return report;
      });
    }
  }
  const stored = (await countMessages(database)) - before;
  if (stored !== answered) throw new Error(`${answered} accepted, ${stored} stored`);
  return tallies.map(({ one, accept, nothing }) => ({
    name: 'accept',
    params: { ...one, keys: String(one.keys), fields: 10, seconds, rounds },
    ...compare(accept, nothing),
  }));
}

async function countMessages(database: Database): Promise<number> {
  const { rows } = await database.pool.query<{ stored: number }>(
    'select count(*)::int as stored from message',
  );
  return rows[0]?.stored ?? 0;
}
