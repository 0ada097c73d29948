import { createLog } from '../src/foundation/log.ts';
import { minIdAt } from '../src/foundation/uuid7.ts';
import type { Shop } from '../test/support/shop.ts';
import { acceptRequests, openBenchAccount } from './bench-account.ts';
import { type BenchDatabase, startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { openHistory } from './history/open-history.ts';
import { measureCalm, measureUse } from './machine-use.ts';
import { runLoad } from './run-load.ts';
import { compare, Tally } from './tally.ts';

const connections = 128;
const defaultHistory = 10_000_000;

/**
 * Accepting for the account with the most messages of a database that holds so many, beside accepting on an empty one, in
 * turns. What is accepted is taken out of the filled database again.
 */
export async function benchAcceptHistory(options: BenchOptions): Promise<BenchResult[]> {
  const history = options.history ?? defaultHistory;
  const closing: (() => Promise<void>)[] = [];
  const open = async (database: BenchDatabase, shop: Shop) => {
    const service = await startBenchService(database.url, {
      nodeOptions: options.nodeOptions,
      processes: 1,
    });
    closing.push(() => service.stop());
    const { port } = service;
    const requests = await acceptRequests(port, shop);
    const pids = { service: service.child.pid ?? 0, database: database.pid };
    const load = (seconds: number) =>
      runLoad({ host: '127.0.0.1', port, connections, seconds, requests });
    await load(options.seconds / 2);
    const tally = new Tally();
    return {
      tally,
      async measure(): Promise<void> {
        const { result, use } = await measureCalm(options.calm, () =>
          measureUse(pids, () => load(options.seconds)),
        );
        tally.add(result, use);
      },
    };
  };
  try {
    const fresh = await startBenchDatabase();
    closing.push(() => fresh.stop());
    const empty = await open(fresh, await openBenchAccount(fresh.database));
    const past = await openHistory(history, createLog('warn'), options.historyFolder);
    closing.push(() => past.stop());
    const since = minIdAt(new Date());
    closing.push(() => deleteAcceptedSince(past, since));
    const filled = await open(past, past.shop);
    for (let round = 0; round < options.rounds; round += 1) {
      await filled.measure();
      await empty.measure();
    }
    return [
      {
        name: 'accept-history',
        params: { connections, stored: history, seconds: options.seconds, rounds: options.rounds },
        ...compare(filled.tally, empty.tally),
      },
    ];
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function deleteAcceptedSince(
  { database, shop }: BenchDatabase & { readonly shop: Shop },
  since: string,
) {
  for (const [table, id] of [
    ['queue_entry', 'message_id'],
    ['message', 'id'],
  ])
    await database.pool.query(`delete from ${table} where account_id = $1 and ${id} >= $2`, [
      shop.id,
      since,
    ]);
}
