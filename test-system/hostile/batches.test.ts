import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mebibyte } from '../../src/host/http/limits/route-limits.ts';
import { bodyWith, goodBody, SendClient } from '../../test/support/send-client.ts';
import { sendRequest, type TextResponse } from '../../test/support/send-request.ts';
import { getToken, openShop, type Shop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { waitForLock } from '../../test/support/wait-for-lock.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, worker: false });
const { bodyTraffic } = service.app.http;
const shop = await openShop(database);
const token = await getToken(service, shop);
const neighbor = await openShop(database, { id: '46200' });
const neighborToken = await getToken(service, neighbor);
const single = new SendClient(service, neighborToken);

function post(
  { id }: Shop,
  bearer: string,
  body: string | readonly unknown[],
): Promise<TextResponse> {
  return sendRequest(`${service.url}/ete/v1/email/${id}/t-0001/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify({ messages: body }),
  });
}

function requireAllSent(response: TextResponse): void {
  assert.equal(response.status, 200, response.text);
  for (const { status } of response.body.results as { status: number }[]) assert.equal(status, 200);
}

test('ASVS 4.0.3 11.1.4: single requests of others overtake an account’s large batches', async () => {
  const messages = Array.from({ length: 1_000 }, () => goodBody());
  let unfinished = 16;
  const batches = Array.from({ length: unfinished }, async () => {
    requireAllSent(await post(shop, token, messages));
    unfinished -= 1;
  });
  await waitFor('the batches', () => bodyTraffic.bytes > mebibyte);
  for (let count = 0; count < 5; count += 1)
    assert.equal((await single.send({ account: neighbor.id })).status, 200);
  assert.ok(unfinished > 8, `${unfinished} batches were still in progress`);
  await Promise.all(batches);
  await waitFor('memory', () => bodyTraffic.bytes === 0);
});

/** Runs work while batches of the account wait for a key that another node's transaction holds. */
async function whileWaiting(count: number, work: () => Promise<void>): Promise<void> {
  const blocker = await database.pool.connect();
  const key = `held-${count}`;
  try {
    await blocker.query('begin');
    await blocker.query(
      `insert into idempotency_key (account_id, key, request_hash, message_id, suppressed_recipients, created_at)
       values ($1, $2, '\\x00', gen_random_uuid(), '{}', now())`,
      [shop.id, key],
    );
    // The first one waits in the database, the others for the first.
    const body = JSON.stringify({ messages: [{ ...goodBody(), idempotencyKey: key }] });
    const held = Array.from({ length: count }, () => post(shop, token, body));
    await waitFor('the batches', () => bodyTraffic.bytes === count * body.length);
    await waitForLock(database);
    await work();
    await blocker.query('rollback');
    for (const response of await Promise.all(held)) requireAllSent(response);
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
}

test('ASVS 4.0.3 11.1.4: an account has six batches in progress and not one more, and others aren’t affected', async () => {
  await whileWaiting(5, async () => requireAllSent(await post(shop, token, [goodBody()])));
  let seventh: Promise<TextResponse> | undefined;
  await whileWaiting(6, async () => {
    let isAnswered = false;
    seventh = post(shop, token, [goodBody()]).finally(() => {
      isAnswered = true;
    });
    requireAllSent(await post(neighbor, neighborToken, [goodBody()]));
    assert.equal(isAnswered, false);
  });
  requireAllSent(await (seventh as Promise<TextResponse>));
});

for (const [kind, body] of [
  [
    'messages',
    JSON.stringify({
      messages: Array.from({ length: 1_000 }, (_, n) =>
        bodyWith({ content: { personalizationDataMap: { 'Order Number': `${n}`.repeat(2_000) } } }),
      ),
    }),
  ],
  ['brackets', `{"messages":[${'['.repeat(5 * mebibyte - 10)}${']'.repeat(5 * mebibyte - 10)}]}`],
  ['empty texts', `{"messages":[[""${',""'.repeat(3 * mebibyte)}]]}`],
] as const)
  test(`ASVS 4.0.3 11.1.4: a batch of up to 10 MiB of ${kind} leaves the event loop to others`, async () => {
    let isAnswered = false;
    const batch = post(shop, token, body).finally(() => {
      isAnswered = true;
    });
    await waitFor('the body', () => bodyTraffic.bytes > body.length - mebibyte);
    let others = 0;
    for (; !isAnswered; others += 1)
      assert.equal((await sendRequest(`${service.url}/healthz`)).status, 200);
    assert.equal((await batch).status, 200);
    assert.ok(others >= 10, `${others} requests were answered meanwhile`);
  });
