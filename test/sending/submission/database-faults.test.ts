import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { getToken, openShop, publishShopTemplate } from '../../support/shop.ts';
import { openGate } from '../../support/tcp-gate.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const shop = await openShop(database);
const gate = await openGate(url);
const service = await startTestService({ databaseUrl: gate.url, worker: false });
const client = new SendClient(service, await getToken(service, shop));

async function storedIds(): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select m.id from message m join queued_delivery q on q.account_id = m.account_id and q.message_id = m.id
     where m.account_id = '46100' order by m.id`,
  );
  return rows.map((row) => row.id);
}

async function waitUntilAccepting(): Promise<void> {
  gate.open();
  await waitFor('the service to accept again', async () => (await client.send()).status === 200);
}

test('7: while the database is down, every request quickly gets 503 IO Exception with Retry-After, and nothing is accepted', async () => {
  await waitUntilAccepting();
  const before = await storedIds();
  gate.close();
  await waitFor('the service to notice', async () => {
    const { status } = await sendRequest(`${service.url}/readyz`);
    return status === 503;
  });
  const start = performance.now();
  const responses = await Promise.all(Array.from({ length: 50 }, () => client.send()));
  assert.ok(performance.now() - start < 20_000);
  for (const response of responses) {
    assert.equal(response.status, 503, response.text);
    assert.equal(response.body.errorName, 'IO_EXCEPTION');
    assert.equal(response.body.message, 'IO Exception was encountered');
    assert.match(String(response.headers.get('retry-after')), /^\d+$/);
  }
  assert.deepEqual(await storedIds(), before);
  await waitUntilAccepting();
});

test('a request whose connection broke after the commit still gets its 200', async () => {
  await waitUntilAccepting();
  for (const key of [undefined, 'broken-1']) {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    const before = await storedIds();
    gate.cutAnswers('signalpost accept');
    const sending = Promise.all(
      Array.from({ length: key === undefined ? 20 : 1 }, () => client.send({ headers })),
    );
    await waitFor(
      'the commit on the broken connection',
      async () => (await storedIds()).length > before.length,
    );
    gate.open();
    const responses = await sending;
    // Requests without a connection for their statement correctly get a 503.
    const stored = (await storedIds()).filter((id) => !before.includes(id));
    const accepted = responses.filter((response) => response.status === 200);
    for (const response of accepted)
      assert.equal(response.headers.get('idempotency-replayed'), null);
    assert.ok(stored.length > 0);
    assert.deepEqual(stored, accepted.map((response) => String(response.body.messageId)).sort());
  }
});

test('a silent database server blocks no request forever, and each row it received is stored once', async () => {
  await waitUntilAccepting();
  await publishShopTemplate(database, shop, { id: 't-unasked', sender: 'orders@shop.test' });
  const before = await storedIds();
  gate.hold();
  const first = client.send();
  const start = performance.now();
  const lookedUp = await client.send({ template: 't-unasked' });
  assert.ok(performance.now() - start < 20_000);
  assert.equal(lookedUp.status, 503, lookedUp.text);
  gate.open();
  const response = await first;
  const stored = (await storedIds()).filter((id) => !before.includes(id));
  if (response.status === 200) assert.deepEqual(stored, [response.body.messageId]);
  else assert.deepEqual([response.status, stored], [503, []]);
  await waitUntilAccepting();
});

test('terminating backends under load loses and duplicates nothing', async () => {
  await waitUntilAccepting();
  const before = await storedIds();
  const accepted: string[] = [];
  let sending = true;
  const clients = Array.from({ length: 16 }, async () => {
    while (sending) {
      const response = await client.send();
      if (response.status === 200) accepted.push(String(response.body.messageId));
      else assert.equal(response.status, 503, response.text);
    }
  });
  for (let round = 0; round < 10; round += 1) {
    const enough = accepted.length + 40;
    await waitFor('some more accepted messages', () => accepted.length >= enough);
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'signalpost accept'`,
    );
  }
  sending = false;
  await Promise.all(clients);
  const stored = (await storedIds()).filter((id) => !before.includes(id));
  assert.deepEqual(stored, accepted.sort());
});
