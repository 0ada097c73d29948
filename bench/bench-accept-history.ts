import { createLog } from '../src/foundation/log.ts';
import { minIdAt } from '../src/foundation/uuid7.ts';
import type { Shop } from '../test/support/shop.ts';
import { acceptRequests, openBenchAccount } from './bench-account.ts';
import { type BenchDatabase, startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { type History, openHistory } from './history/open-history.ts';
import { compare, LoadTally, loadConnections } from './tally.ts';

/** Accepting for the largest account of a filled database, in turns with accepting on an empty one. */
export async function benchAcceptHistory(options: BenchOptions): Promise<BenchResult[]> {
  const { history = 10_000_000, seconds, rounds } = options;
  await using closing = new AsyncDisposableStack();
  const open = async (database: BenchDatabase, shop: Shop) => {
    const service = closing.use(await startBenchService(database, { ...options, processes: 1 }));
    const tally = new LoadTally(service, { requests: await acceptRequests(service, shop) });
    await tally.run(seconds / 2);
    return tally;
  };
  const fresh = closing.use(await startBenchDatabase());
  const empty = await open(fresh, await openBenchAccount(fresh.database));
  const past = closing.use(await openHistory(history, createLog('warn'), options.historyFolder));
  const since = minIdAt(new Date());
  closing.defer(() => deleteAcceptedSince(past, since));
  const filled = await open(past, past.shop);
  for (let round = 0; round < rounds; round += 1) {
    await filled.measure(options);
    await empty.measure(options);
  }
  const params = { connections: loadConnections, stored: history, seconds, rounds };
  return [makeResult('accept-history', params, compare(filled, empty))];
}

async function deleteAcceptedSince({ database, shop }: History, since: string): Promise<void> {
  for (const [table, id] of [
    ['queue_entry', 'message_id'],
    ['message', 'id'],
  ])
    await database.pool.query(`delete from ${table} where account_id = $1 and ${id} >= $2`, [
      shop.id,
      since,
    ]);
}
