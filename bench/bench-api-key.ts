import { sql } from 'kysely';
import type { Database } from '../src/foundation/database/open-database.ts';
import { addKey } from '../test/support/api-key.ts';
import { getToken, type Shop } from '../test/support/shop.ts';
import { openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { copyRows, multiplyAccounts } from './copy-rows.ts';
import { compare, LoadTally, loadConnections } from './tally.ts';

const stored = 1_000_000;
const chunkSize = 20_000;
const sending = { scopes: ['messages:send'] } as const;

/** Accepting with one of a million API keys, in turns with an access token: a ratio of 1 means that keys cost nothing more. */
export async function benchApiKey(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using bench = await startBenchDatabase();
  const shop = await openBenchAccount(bench.database);
  const key = await storeKeys(bench.database, shop);
  await using service = await startBenchService(bench, { ...options, processes: 1 });
  const open = (token: string) =>
    new LoadTally(service, { requests: wireRequests({ token, accountIds: [shop.id] }) });
  const byToken = open(await getToken(service, shop));
  const byKey = open(key);
  const sides = [byToken, byKey];
  for (const side of sides) await side.run(seconds / 2);
  for (let round = 0; round < rounds; round += 1)
    // The second one meets more stored messages, so they change places.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side.measure(options);
  const params = { stored, connections: loadConnections, fields: 10, seconds, rounds };
  return [makeResult('key', params, compare(byKey, byToken))];
}

/** A million keys of the shop and of other accounts. @returns the newest */
async function storeKeys(database: Database, shop: Shop): Promise<string> {
  const ids = await multiplyAccounts(database, shop, 1_000);
  await addKey(database, shop.id, sending);
  for (let from = 1; from < stored - 1; from += chunkSize)
    await copyRows(database, {
      table: 'api_key',
      where: sql`one.name = 'Test'`,
      times: sql`generate_series(${from}::int, ${Math.min(stored - 2, from + chunkSize - 1)}::int)`,
      columns: {
        account_id: sql`(${ids}::text[])[1 + copy % 1000]`,
        id: sql`gen_random_uuid()`,
        hash: sql`sha256(convert_to('bench ' || copy, 'UTF8'))`,
        name: sql`'Bench'`,
      },
    });
  await database.pool.query('analyze api_key');
  return addKey(database, shop.id, sending);
}
