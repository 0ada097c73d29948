import type { Database } from '../src/foundation/database/open-database.ts';
import { addKey } from '../test/support/api-key.ts';
import { getToken, type Shop } from '../test/support/shop.ts';
import { openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
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
  const others = 999;
  await database.pool.query(
    `insert into account (id, name) select 'other' || number, 'Other' from generate_series(1, $1::int) number`,
    [others],
  );
  for (let from = 1; from < stored; from += chunk)
    await database.pool.query(
      `insert into api_key (account_id, id, hash, hint, name, scopes)
       select case when number % 1000 = 0 then $3 else 'other' || number % 1000 end, gen_random_uuid(),
         sha256(convert_to('bench ' || number, 'UTF8')), 'abcd', 'Bench', '{messages:send}'
       from generate_series($1::int, $2::int) number`,
      [from, Math.min(stored - 1, from + chunk - 1), shop.id],
    );
  await database.pool.query('analyze api_key');
  return addKey(database, shop.id, { scopes: ['messages:send'] });
}
