import { sql } from 'kysely';
import type { Database } from '../src/foundation/database/open-database.ts';
import { addKey } from '../test/support/api-key.ts';
import { getToken, type Shop } from '../test/support/shop.ts';
import { openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { copyRows, multiplyAccounts } from './copy-rows.ts';
import { measureCalm, measureUse } from './machine-use.ts';
import { runLoad } from './run-load.ts';
import { compare, Tally } from './tally.ts';

const stored = 1_000_000;
const chunk = 20_000;
const distinctRequests = 5_000;
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
  const { url, database, pid, stop } = await startBenchDatabase();
  try {
    const shop = await openBenchAccount(database);
    const key = await storeKeys(database, shop);
    const service = await startBenchService(url, { nodeOptions, processes: 1 });
    try {
      const token = await getToken({ url: `http://127.0.0.1:${service.port}` }, shop);
      const pids = { service: service.child.pid ?? 0, database: pid };
      const load = (credential: string, length: number) =>
        runLoad({
          host: '127.0.0.1',
          port: service.port,
          connections,
          seconds: length,
          requests: wireRequests({
            path: '/ete/v1/email',
            accountIds: [shop.id],
            token: credential,
            count: distinctRequests,
            bodyBytes: 0,
            keys: false,
          }),
        });
      const sides = [
        { credential: token, tally: new Tally() },
        { credential: key, tally: new Tally() },
      ] as const;
      for (const { credential } of sides) await load(credential, seconds / 2);
      for (let round = 0; round < rounds; round += 1) {
        // Whoever goes second meets more stored messages, so they change places.
        for (const { credential, tally } of round % 2 === 0 ? sides : sides.toReversed()) {
          const { result, use } = await measureCalm(calm, () =>
            measureUse(pids, () => load(credential, seconds)),
          );
          tally.add(result, use);
        }
      }
      const [byToken, byKey] = sides;
      return [
        {
          name: 'key',
          params: { stored, connections, fields: 10, seconds, rounds },
          ...compare(byKey.tally, byToken.tally),
        },
      ];
    } finally {
      await service.stop();
    }
  } finally {
    await stop();
  }
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
