import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { apply } from '../support/manifest-world.ts';
import { sendRequest } from '../support/send-request.ts';
import { openSharedShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, service, owner, path, shop } = await openSharedShop({ worker: false });

const suspend = 'update account set suspended_at = now() where id = $1';
const activate = 'update account set suspended_at = null where id = $1';

test('ASVS 4.0.3 4.1.1: the link of a sender verifies nothing while the account is suspended', async () => {
  const token = randomBytes(32).toString('base64url');
  assert.equal((await owner.put(`${path}/senders/late@shop.test`, {})).status, 201);
  await database.pool.query(
    `insert into sender_proof (account_id, address, hash, expires_at)
     values ($1, 'late@shop.test', $2, now() + interval '1 day')`,
    [shop.id, createHash('sha256').update(token).digest()],
  );
  const link = `${service.url}/verify-sender/${token}`;
  await database.pool.query(suspend, [shop.id]);
  assert.equal((await sendRequest(link)).status, 404);
  assert.equal((await sendRequest(link, { method: 'POST' })).status, 404);
  const { rows } = await database.pool.query(
    `select verified_at from sender where account_id = $1 and address = 'late@shop.test'`,
    [shop.id],
  );
  assert.deepEqual(rows, [{ verified_at: null }]);
  await database.pool.query(activate, [shop.id]);
  assert.equal((await sendRequest(link, { method: 'POST' })).status, 200);
});

test('ASVS 4.0.3 4.1.1: an import stops when its account is suspended, and continues afterwards', async () => {
  const list = `${path}/lists/news`;
  assert.equal((await owner.put(list, { name: 'News' })).status, 201);
  const at = `${list}/imports/${randomUUID()}`;
  const file = 'email\nann@people.test\n';
  const send = () => owner.put(at, file, { 'content-type': 'text/csv' });
  // The suspension commits while the import has begun and written nothing.
  const connection = await database.pool.connect();
  await connection.query('begin');
  await connection.query(suspend, [shop.id]);
  assert.ok((await send()).status < 300);
  await connection.query('commit');
  connection.release();
  const stopped = await waitFor('the import to stop', async () => {
    const { body } = await owner.get(at);
    return body.state !== 'running' && body;
  });
  assert.equal(stopped.state, 'stopped');
  assert.match(JSON.stringify(stopped), /The account was suspended. 0 rows are imported/);
  await database.pool.query(activate, [shop.id]);
  await send();
  await waitFor('the import to end', async () => (await owner.get(at)).body.state === 'done');
});

test('ASVS 4.0.3 4.1.1: removing a pause sets mail going, so a suspended account can’t', async () => {
  const pause = `${path}/queue/pauses/people.test`;
  assert.ok((await owner.put(pause)).status < 300);
  await apply(database, { accounts: [{ id: shop.id, name: 'Shop', suspended: true }] });
  await waitFor('the suspension to apply', async () => (await owner.put(pause)).status === 403);
  assert.equal((await owner.delete(pause)).status, 403);
  await apply(database, { accounts: [{ id: shop.id, name: 'Shop', suspended: false }] });
  await waitFor('it to end', async () => (await owner.delete(pause)).status === 204);
});
