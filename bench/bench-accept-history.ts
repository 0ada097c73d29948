import { createLog } from '../src/foundation/log.ts';
import { minIdAt } from '../src/foundation/uuid7.ts';
import type { Shop } from '../test/support/shop.ts';
import { acceptRequests, openBenchAccount } from './bench-account.ts';
import { type BenchDatabase, startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { openHistory } from './history/open-history.ts';
import { runLoad } from './run-load.ts';
import { compare, Tally } from './tally.ts';

const connections = 128;
const defaultHistory = 10_000_000;

/**
 * Accepting for the account with the most messages of a database that holds so many, beside accepting on an empty one, in
 * turns. What is accepted is taken out of the filled database again.
 */
export async function benchAcceptHistory(options: BenchOptions): Promise<BenchResult[]> {
  const { history = defaultHistory } = options;
  const { nodeOptions, calm, seconds, rounds } = options;
  await using closing = new AsyncDisposableStack();
  const open = async ({ url, pid }: BenchDatabase, shop: Shop) => {
    const service = closing.use(await startBenchService(url, { nodeOptions, processes: 1 }));
    const requests = await acceptRequests(service, shop);
    const order = { port: service.port, connections, requests };
    await runLoad({ ...order, seconds: seconds / 2 });
    const pids = { service: service.pid, database: pid };
    const tally = new Tally();
    return {
      tally,
      measure: () => tally.measure(calm, pids, () => runLoad({ ...order, seconds })),
    };
  };
  const fresh = closing.use(await startBenchDatabase());
  const empty = await open(fresh, await openBenchAccount(fresh.database));
  const past = closing.use(await openHistory(history, createLog('warn'), options.historyFolder));
  const since = minIdAt(new Date());
  closing.defer(() => deleteAcceptedSince(past, since));
  const filled = await open(past, past.shop);
  for (let round = 0; round < rounds; round += 1) {
    await filled.measure();
    await empty.measure();
  }
  const params = { connections, stored: history, seconds, rounds };
  return [{ name: 'accept-history', params, ...compare(filled.tally, empty.tally) }];
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
