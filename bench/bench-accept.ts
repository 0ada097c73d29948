import { availableParallelism } from 'node:os';
import type { Database } from '../src/foundation/database/open-database.ts';
import type { AccountId } from '../src/foundation/ids.ts';
import { getToken } from '../test/support/shop.ts';
import { distinctRequests, noOpPath, openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { type BenchService, startBenchService } from './bench-service.ts';
import { multiplyAccounts } from './copy-rows.ts';
import { compare, LoadTally, loadConnections } from './tally.ts';

type AcceptCase = typeof defaultCase;

const defaultCase = {
  processes: 1,
  connections: loadConnections as number,
  accounts: 1,
  /** Idempotency keys. */
  keys: false,
  /** Of a request's body, at least. */
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

/** Limits the load generator's memory. */
const maxRequestBytes = 20_000_000;

/** Accepting at 128 connections, beside a no-op POST. */
export function benchAccept(options: BenchOptions): Promise<BenchResult[]> {
  return measureCases(options, [defaultCase]);
}

/** The same by connections, accounts, processes, idempotency keys and size of body. */
export function benchAcceptCases(options: BenchOptions): Promise<BenchResult[]> {
  return measureCases(options, cases);
}

async function measureCases(
  options: BenchOptions,
  wanted: readonly AcceptCase[],
): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const { database } = bench;
  const shop = await openBenchAccount(database);
  const maxAccounts = Math.max(...wanted.map(({ accounts }) => accounts));
  const ids = await multiplyAccounts(database, shop, maxAccounts);
  const results: BenchResult[] = [];
  for (const [processes, some] of Map.groupBy(wanted, (one) => one.processes)) {
    await using service = await startBenchService(bench, { ...options, processes });
    const token = await getToken(service, shop);
    const sides = some.map((one) => openSides(service, token, ids, one));
    results.push(...(await measureInTurns(options, database, sides)));
  }
  return results;
}

function openSides(
  service: BenchService,
  token: string,
  ids: readonly AccountId[],
  one: AcceptCase,
) {
  const { connections, accounts, keys, bodyBytes } = one;
  const count = Math.min(distinctRequests, Math.ceil(maxRequestBytes / Math.max(1, bodyBytes)));
  const wire = { token, accountIds: ids.slice(0, accounts), count, bodyBytes, keys };
  const open = (path?: string) =>
    new LoadTally(service, { connections, requests: wireRequests({ ...wire, path }) });
  return { one, accept: open(), nothing: open(noOpPath) };
}

/** The cases take turns, so that their rates can be compared. */
async function measureInTurns(
  options: BenchOptions,
  database: Database,
  sides: readonly ReturnType<typeof openSides>[],
): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  const before = await countMessages(database);
  for (const { one, accept, nothing } of sides) {
    // Until a run has sent for every account: an account's first send reads it from the database.
    for (let sent = 0; sent < one.accounts; ) sent = (await accept.run(seconds / 2)).answered;
    await nothing.run(seconds / 2);
  }
  for (let round = 0; round < rounds; round += 1)
    for (const { accept, nothing } of sides) {
      await nothing.measure(options);
      await accept.measure(options);
    }
  const answered = sides.reduce((sum, { accept }) => sum + accept.totalAnswered, 0);
  const stored = (await countMessages(database)) - before;
  if (stored !== answered) throw new Error(`${answered} accepted, ${stored} stored`);
  return sides.map(({ one, accept, nothing }) =>
    makeResult(
      'accept',
      { ...one, keys: String(one.keys), fields: 10, seconds, rounds },
      compare(accept, nothing),
    ),
  );
}

async function countMessages({ pool }: Database): Promise<number> {
  const { rows } = await pool.query('select count(*)::int as stored from message');
  return rows[0].stored;
}
