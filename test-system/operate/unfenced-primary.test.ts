import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { migrate } from '../../src/base/database/migrate.ts';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { AcceptStore } from '../../src/sending/submission/accept-store.ts';
import { makeAcceptRow } from '../../test/support/accept-row.ts';
import { openShop } from '../../test/support/shop.ts';
import { startPostgresPair } from '../support/postgres-pair.ts';

test('if a standby is promoted while the old primary lives on, a commit that waits for the standby is given up for the new primary', async () => {
  const { primary, standby } = await startPostgresPair();
  const hosts = `${primary.host},${standby.host}`;
  const settings = { url: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write` };
  const database = openDatabase(settings);
  after(() => database.close());
  await migrate(database);
  await openShop(database);
  const store = new AcceptStore(settings, 1);
  after(() => store.close());
  assert.deepEqual(await store.insert([makeAcceptRow()]), [{ kind: 'accepted' }]);

  await standby.query("alter system set synchronous_standby_names = ''");
  await standby.query('select pg_promote()');
  const row = makeAcceptRow();
  // Not by the statement's timeout, which cancels the wait for the standby.
  const broken = await store.insert([row]).catch((error: unknown) => error);
  assert.ok(broken instanceof Error);
  assert.match(String(broken.cause), /Connection terminated/);
  const [old] = await primary.query('select pg_is_in_recovery() as standby');
  assert.deepEqual(old, { standby: false }, 'the old primary lives');
  assert.equal(await store.isStored(row), false);
  assert.deepEqual(await store.insert([row], true), [{ kind: 'accepted' }]);
  const [stored] = await standby.query('select count(*)::int as count from message');
  assert.deepEqual(stored, { count: 2 });
});
