import { availableParallelism } from 'node:os';
import { getToken } from '../test/support/shop.ts';
import {
  distinctBody,
  distinctRequests,
  noOpPath,
  openBenchAccount,
  openLoad,
} from './bench-account.ts';
import { countRows, startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { multiplyAccounts } from './copy-rows.ts';
import { compare, loadConnections, takeTurns } from './tally.ts';

type AcceptCase = typeof defaultCase;

const defaultCase = {
  processes: 1,
  connections: loadConnections as number,
  accounts: 1,
  /** Idempotency keys. */
  keys: false,
  /** Min bytes of a request's body. */
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

/** The same for different numbers of connections, accounts and processes, with idempotency keys, and with large bodies. */
export function benchAcceptCases(options: BenchOptions): Promise<BenchResult[]> {
  return measureCases(options, cases);
}

/** The cases alternate, so that their rates can be compared. */
async function measureCases(
  options: BenchOptions,
  wanted: readonly AcceptCase[],
): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using bench = await startBenchDatabase();
  const { database } = bench;
  const shop = await openBenchAccount(database);
  const maxAccounts = Math.max(...wanted.map(({ accounts }) => accounts));
  const ids = await multiplyAccounts(database, shop, maxAccounts);
  const results: BenchResult[] = [];
  for (const [processes, some] of Map.groupBy(wanted, (one) => one.processes)) {
    await using service = await startBenchService(bench, { ...options, processes });
    const token = await getToken(service, shop);
    const before = await countRows(database, 'message');
    const sides = some.map((one) => {
      const { connections, accounts, keys, bodyBytes } = one;
      const load = {
        ...{ connections, keys, accountIds: ids.slice(0, accounts) },
        count: Math.min(distinctRequests, Math.ceil(maxRequestBytes / Math.max(1, bodyBytes))),
        makeBody: (number: number) => distinctBody(number, bodyBytes),
      };
      const scene = { service, shop, token };
      const nothing = openLoad(scene, { ...load, path: noOpPath });
      return { one, accept: openLoad(scene, load), nothing };
    });
    // Warm up every account: its first send reads it from the database.
    for (const { one, accept } of sides)
      for (let sent = 0; sent < one.accounts; ) sent = (await accept.run(seconds / 2)).answered;
    await takeTurns(
      sides.flatMap(({ accept, nothing }) => [nothing, accept]),
      options,
    );
    const answered = sides.reduce((sum, { accept }) => sum + accept.totalAnswered, 0);
    const stored = (await countRows(database, 'message')) - before;
    if (stored !== answered) throw new Error(`${answered} accepted, ${stored} stored`);
    for (const { one, accept, nothing } of sides) {
      const params = { ...one, keys: String(one.keys), fields: 10, seconds, rounds };
      results.push(makeResult('accept', params, compare(accept, nothing)));
    }
  }
  return results;
}
