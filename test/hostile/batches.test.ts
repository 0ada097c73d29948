import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mebibyte } from '../../src/http/limits/route-limit.ts';
import { bodyWith, goodBody, SendClient } from '../support/send-client.ts';
import { sendRequest, type TextResponse } from '../support/send-request.ts';
import { getToken, openShop, type Shop } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, roles: ['http'] });
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

function requireAllSent(answer: TextResponse): void {
  assert.equal(answer.status, 200, answer.text);
  for (const { status } of answer.body.results as { status: number }[]) assert.equal(status, 200);
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

/** Starts batches of an account whose first message waits for a key that a transaction holds. */
async function holdBatches(count: number) {
  const blocker = await database.pool.connect();
  await blocker.query('begin');
  await blocker.query(
    `insert into idempotency_key (account_id, key, request_hash, message_id, suppressed_recipients, created_at)
     select $1, 'held-' || n, '\\x00', gen_random_uuid(), '{}', now() from generate_series(1, $2) n`,
    [shop.id, count],
  );
  const held = Array.from({ length: count }, (_, n) =>
    post(shop, token, [{ ...goodBody(), idempotencyKey: `held-${n + 1}` }]),
  );
  await waitForLock(database);
  return {
    held,
    async release(): Promise<void> {
      await blocker.query('rollback');
      blocker.release();
      for (const answer of await Promise.all(held)) requireAllSent(answer);
    },
  };
}

test('ASVS 4.0.3 11.1.4: an account has four batches in progress and not one more, and others aren’t affected', async () => {
  const three = await holdBatches(3);
  requireAllSent(await post(shop, token, [goodBody()]));
  await three.release();
  const four = await holdBatches(4);
  let isAnswered = false;
  const fifth = post(shop, token, [goodBody()]).finally(() => {
    isAnswered = true;
  });
  requireAllSent(await post(neighbor, neighborToken, [goodBody()]));
  assert.equal(isAnswered, false);
  await four.release();
  requireAllSent(await fifth);
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
