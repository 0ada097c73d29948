import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { migrate } from '../../src/foundation/database/migrate.ts';
import { openDatabase } from '../../src/foundation/database/open-database.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { startPostgresPair } from '../support/postgres-pair.ts';

test('if a standby is promoted while the old primary lives on, a request that waits for the old one is accepted by the new', async () => {
  const { primary, standby } = await startPostgresPair();
  const hosts = `${primary.host},${standby.host}`;
  const databaseUrl = `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`;
  const database = openDatabase({ url: databaseUrl });
  after(() => database.close());
  await migrate(database);
  const shop = await openShop(database);
  const node = await startTestService({ databaseUrl, roles: ['http'] });
  const client = new SendClient(node, await getToken(node, shop));
  assert.equal((await client.send()).status, 200);
  await standby.query("alter system set synchronous_standby_names = ''");
  await standby.query('select pg_promote()');
  const [before] = await primary.query('select pg_is_in_recovery() as standby');
  assert.deepEqual(before, { standby: false });
  assert.equal((await client.send()).status, 200);
  const [stored] = await standby.query('select count(*)::int as count from message');
  assert.deepEqual(stored, { count: 2 });
});
