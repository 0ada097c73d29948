import { sql } from 'kysely';
import type { Database } from '../src/foundation/database/open-database.ts';
import { addKey } from '../test/support/api-key.ts';
import type { Shop } from '../test/support/shop.ts';
import { acceptRequests, openBenchAccount } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { copyRows, multiplyAccounts } from './copy-rows.ts';
import { runLoad } from './run-load.ts';
import { compare, Tally } from './tally.ts';

const stored = 1_000_000;
const chunk = 20_000;
const connections = 128;

/**
 * Accepting with an API key beside accepting with an access token, in turns, with a million keys stored; the ceiling is the
 * token, so a ratio of 1 says that a key costs nothing more.
 */
export async function benchApiKey({
  seconds,
  rounds,
  calm,
  nodeOptions,
}: BenchOptions): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const { url, database, pid } = bench;
  const shop = await openBenchAccount(database);
  const key = await storeKeys(database, shop);
  await using service = await startBenchService(url, { nodeOptions, processes: 1 });
  const pids = { service: service.pid, database: pid };
  const side = async (token?: string) => {
    const requests = await acceptRequests(service, shop, token);
    const order = { port: service.port, connections, requests };
    return { tally: new Tally(), load: (length: number) => runLoad({ ...order, seconds: length }) };
  };
  const [byToken, byKey] = [await side(), await side(key)];
  const sides = [byToken, byKey];
  for (const { load } of sides) await load(seconds / 2);
  for (let round = 0; round < rounds; round += 1)
    // Whoever goes second meets more stored messages, so they change places.
    for (const { load, tally } of round % 2 === 0 ? sides : sides.toReversed())
      await tally.measure(calm, pids, () => load(seconds));
  const params = { stored, connections, fields: 10, seconds, rounds };
  return [{ name: 'key', params, ...compare(byKey.tally, byToken.tally) }];
}

/** A million keys of the shop and of other accounts. @returns one of them, made last */
async function storeKeys(database: Database, shop: Shop): Promise<string> {
  const ids = await multiplyAccounts(database, shop, 1_000);
  await addKey(database, shop.id, { scopes: ['messages:send'] });
  for (let from = 1; from < stored - 1; from += chunk)
    await copyRows(database, {
      table: 'api_key',
      where: sql`one.name = 'Test'`,
      times: sql`generate_series(${from}::int, ${Math.min(stored - 2, from + chunk - 1)}::int)`,
      columns: {
        account_id: sql`(${ids}::text[])[1 + copy % 1000]`,
        id: sql`gen_random_uuid()`,
        hash: sql`sha256(convert_to('bench ' || copy, 'UTF8'))`,
        name: sql`'Bench'`,
      },
    });
  await database.pool.query('analyze api_key');
  return addKey(database, shop.id, { scopes: ['messages:send'] });
}
