import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAccountFirst } from '../../support/account-first.ts';
import { bodyWith, SendClient, type SendOptions } from '../../support/send-client.ts';
import type { TextResponse } from '../../support/send-request.ts';
import { getToken, openShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, url, clock } = await createTestDatabase();
const shop = await openShop(database);
const other = await openShop(database, { id: '46200' });
const first = await startTestService({ databaseUrl: url, worker: false, clock });
const second = await startTestService({ databaseUrl: url, worker: false, clock });
const token = await getToken(first, shop);
const nodes = [new SendClient(first, token), new SendClient(second, token)] as const;
const [client] = nodes;

const withKey = (key: string, options: SendOptions = {}): SendOptions => ({
  ...options,
  headers: { 'idempotency-key': key },
});

function assertReplay(response: TextResponse, original: TextResponse): void {
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers.get('idempotency-replayed'), 'true');
  assert.equal(response.text, original.text);
}

async function countMessages(): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>(
    'select count(*)::int as n from message',
  );
  return rows[0]?.n ?? 0;
}

test('the same key and body replay the response with Idempotency-Replayed, and nothing is sent', async () => {
  const original = await client.send(withKey('one'));
  assert.equal(original.status, 200);
  assert.equal(original.headers.get('idempotency-replayed'), null);
  const before = await countMessages();
  for (const node of nodes) assertReplay(await node.send(withKey('one')), original);
  assert.equal(await countMessages(), before);
});

test('the same key with another body or template is 422', async () => {
  await client.send(withKey('two'));
  for (const options of [
    { body: bodyWith({ metadata: { externalId: 'x' } }) },
    { body: `${JSON.stringify(bodyWith({}))} ` },
    { template: 't-0002' },
  ]) {
    const response = await client.send(withKey('two', options));
    assert.equal(response.status, 422);
    assert.equal(response.body.errorName, 'IDEMPOTENCY_MISMATCH');
  }
});

test('keys are separate for each account', async () => {
  const original = await client.send(withKey('three'));
  const theirs = new SendClient(first, await getToken(first, other));
  const id = await theirs.accept(withKey('three', { account: '46200' }));
  assert.notEqual(id, original.body.messageId);
});

test('a key is 1 to 255 printable ASCII characters', async () => {
  const keys: [string, number][] = [
    ['k', 200],
    ['k'.repeat(255), 200],
    ['k'.repeat(256), 400],
    ['a "quoted", key~', 200],
    ['', 400],
    ['é', 400],
    ['a\tb', 400],
  ];
  for (const [key, status] of keys) {
    const response = await client.send(withKey(key));
    assert.equal(response.status, status, key);
    if (status === 400) {
      assert.equal(response.body.errorName, 'VALIDATION_FAILED');
      assert.deepEqual(response.body.details, [
        {
          field: 'Idempotency-Key',
          reason: 'must be one value of 1 to 255 printable ASCII characters',
        },
      ]);
    }
  }
});

test('only a 200 is stored: the same key works after a rejection', async () => {
  assert.equal((await client.send(withKey('four', { body: '{}' }))).status, 400);
  assert.equal((await client.send(withKey('four'))).status, 200);
});

test('a key can be reused after 24 hours, not a minute before', async () => {
  const original = await client.send(withKey('five'));
  const minute = 60_000;
  await clock.advance(24 * 60 * minute - minute);
  const fresh = await getToken(first, shop);
  const late = new SendClient(first, fresh);
  assertReplay(await late.send(withKey('five')), original);
  await clock.advance(2 * minute);
  const again = await late.send(withKey('five'));
  assert.equal(again.status, 200);
  assert.equal(again.headers.get('idempotency-replayed'), null);
  assert.notEqual(again.body.messageId, original.body.messageId);
  assertReplay(await late.send(withKey('five')), again);
  await clock.advance(-(24 * 60 * minute + minute));
});

test('of concurrent requests with one key on two nodes, one is accepted and the others are replays', async () => {
  for (let round = 0; round < 10; round += 1) {
    const before = await countMessages();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        nodes[index % 2 === 0 ? 0 : 1].send(withKey(`same-${round}`)),
      ),
    );
    assert.equal(await countMessages(), before + 1);
    const [original, ...more] = responses.filter(
      (response) => response.headers.get('idempotency-replayed') === null,
    );
    assert.ok(original !== undefined);
    assert.deepEqual(more, []);
    for (const response of responses) {
      assert.equal(response.status, 200);
      assert.equal(response.text, original.text);
    }
  }
});

test('of different concurrent requests with one key, one is accepted and the others are mismatches', async () => {
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => {
      const body = bodyWith({ metadata: { externalId: `order-${index}` } });
      return nodes[index % 2 === 0 ? 0 : 1].send(withKey('different', { body }));
    }),
  );
  const statuses = responses.map((response) => response.status).sort();
  assert.deepEqual(statuses, [200, ...Array.from({ length: 11 }, () => 422)]);
});

test('a key that another node holds for longer than 5 s gets a 409, and no other request waits for it', async () => {
  const holder = await database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query(
      `insert into idempotency_key (account_id, key, request_hash, message_id, created_at)
       values ('46100', 'held', '\\x00', gen_random_uuid(), now())`,
    );
    const held = client.send(withKey('held'));
    const waiting = nodes[1].send(withKey('held'));
    const start = performance.now();
    const others = await Promise.all(Array.from({ length: 10 }, () => client.send()));
    for (const response of others) assert.equal(response.status, 200);
    assert.ok(performance.now() - start < 4_500);
    for (const response of [await held, await waiting]) {
      assert.equal(response.status, 409);
      assert.equal(response.body.errorName, 'IDEMPOTENCY_IN_PROGRESS');
    }
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  await waitFor('the key', async () => (await client.send(withKey('held'))).status === 200);
});

test('a replay lists the same suppressed recipients as the first response', async () => {
  await database.pool.query(
    `insert into suppression (account_id, address, reason) values ('46100', 'off@example.test', 'complaint')`,
  );
  const body = bodyWith({ envelope: { ccAddressList: ['Off@example.test', 'on@example.test'] } });
  const original = await client.send(withKey('six', { body }));
  assert.deepEqual(original.body.suppressedRecipients, ['Off@example.test']);
  assertReplay(await client.send(withKey('six', { body })), original);
});

testAccountFirst(5);
