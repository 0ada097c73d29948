import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Quota } from '../../../src/accounts/account/account.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import type { TextResponse } from '../../support/send-request.ts';
import { getToken, openShop, saveShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, url, clock } = await createTestDatabase();
const first = await startTestService({ databaseUrl: url, clock, worker: false });
const second = await startTestService({ databaseUrl: url, clock, worker: false });

async function openLimited(id: string, quota: Quota) {
  const shop = await openShop(database, { id, quota });
  const token = await getToken(first, shop);
  return { one: new SendClient(first, token), other: new SendClient(second, token) };
}

/** Sets the clock to the middle of an hour that isn't the last of its day, so that no window ends during a test. */
async function moveToMidHour(): Promise<void> {
  const now = new Date(clock.now());
  const target = new Date(now);
  target.setUTCHours(now.getUTCHours() + (now.getUTCHours() >= 21 ? 4 : 1), 20, 0, 0);
  await clock.set(target);
}

async function stored(id: string): Promise<number> {
  const { count } = await database.kysely
    .selectFrom('message')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('account_id', '=', id)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function counted(responses: readonly TextResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function use(id: string): Promise<{ hour: number; day: number } | undefined> {
  const row = await database.kysely
    .selectFrom('account_quota_use')
    .select(['hour_used', 'day_used'])
    .where('account_id', '=', id)
    .executeTakeFirst();
  return row && { hour: row.hour_used, day: row.day_used };
}

await moveToMidHour();

test('two nodes together accept exactly the hourly quota, however many requests are concurrent', async () => {
  const { one, other } = await openLimited('q-race', { perHour: 97, perDay: undefined });
  const clients = Array.from({ length: 240 }, (_, n) => (n % 2 === 0 ? one : other));
  const responses = await Promise.all(clients.map((client) => client.send({ account: 'q-race' })));
  // A node may refuse while the other one holds some of the quota, which it returns within two seconds.
  await waitFor('the rest to be available again', async () => {
    const response = await one.send({ account: 'q-race' });
    responses.push(response);
    return (await stored('q-race')) === 97 && response.status === 429;
  });
  const { 200: ok, 429: refused, ...rest } = counted(responses);
  assert.equal(ok, 97);
  assert.equal((refused ?? 0) + 97, responses.length, JSON.stringify(rest));
  assert.equal(await stored('q-race'), 97);
});

test('over the quota, the response is 429 QUOTA_EXCEEDED with the time to retry', async () => {
  const { one } = await openLimited('q-say', { perHour: 2, perDay: 100 });
  const account = 'q-say';
  assert.equal((await one.send({ account })).status, 200);
  assert.equal((await one.send({ account })).status, 200);
  const refused = await one.send({ account });
  assert.equal(refused.status, 429);
  assert.equal(refused.body.errorName, 'QUOTA_EXCEEDED');
  assert.equal(refused.body.message, 'Quota Exceeded');
  assert.deepEqual(refused.body.details, [
    { field: 'accountId', reason: 'has reached its limit of 2 recipients for this hour' },
  ]);
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(wait > 0 && wait <= 3_600, String(wait));
});

test('the next hour starts from zero while the day continues', async () => {
  const account = 'q-next';
  const shop = await openShop(database, { id: account, quota: { perHour: 3, perDay: 4 } });
  const early = new SendClient(first, await getToken(first, shop));
  for (let n = 0; n < 3; n += 1) assert.equal((await early.send({ account })).status, 200);
  assert.equal((await early.send({ account })).status, 429);
  await clock.advance(3_600_000);
  const one = new SendClient(first, await getToken(first, shop));
  await waitFor('the new hour', async () => (await one.send({ account })).status === 200);
  const refused = await waitFor('the day to be used up', async () => {
    const response = await one.send({ account });
    return response.status === 429 && response;
  });
  assert.match(JSON.stringify(refused.body.details), /limit of 4 recipients for this day/);
  assert.ok(Number(refused.headers.get('retry-after')) > 3_600);
  assert.equal(await stored(account), 4);
  await moveToMidHour();
});

test('rejected requests and replays use no quota', async () => {
  const { one } = await openLimited('q-free', { perHour: 2, perDay: undefined });
  const account = 'q-free';
  const headers = { 'idempotency-key': 'order-1' };
  assert.equal((await one.send({ account, headers })).status, 200);
  const replayed = await one.send({ account, headers });
  assert.equal(replayed.status, 200);
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
  const bad = bodyWith({ content: { personalizationDataMap: {} } });
  assert.equal((await one.send({ account, body: bad })).status, 400);
  await database.kysely
    .insertInto('suppression')
    .values({ account_id: account, address: 'gone@example.test', reason: 'manual' })
    .execute();
  const gone = bodyWith({ envelope: { toAddress: 'gone@example.test' } });
  assert.equal((await one.send({ account, body: gone })).body.errorName, 'RECIPIENT_SUPPRESSED');
  await waitFor('the unused quota to be returned', async () => {
    const now = await use(account);
    return now?.hour === (await stored(account));
  });
});

test('a replay succeeds although the quota is used up', async () => {
  const { one } = await openLimited('q-replay', { perHour: 1, perDay: undefined });
  const account = 'q-replay';
  const headers = { 'idempotency-key': 'order-1' };
  const accepted = await one.send({ account, headers });
  assert.equal((await one.send({ account })).status, 429);
  const id = await one.accept({ account, headers });
  assert.equal(id, accepted.body.messageId);
});

test('a quota change takes effect, and removing the quota removes the limit', async () => {
  const { one } = await openLimited('q-change', { perHour: 0, perDay: undefined });
  const account = 'q-change';
  assert.equal((await one.send({ account })).status, 429);
  await saveShop(database, { id: account, quota: { perHour: 1, perDay: undefined } });
  await waitFor('the raised quota', async () => (await one.send({ account })).status === 200);
  assert.equal((await one.send({ account })).status, 429);
  await saveShop(database, { id: account });
  await waitFor('no quota', async () => (await one.send({ account })).status === 200);
  assert.equal((await one.send({ account })).status, 200);
});

test('a node returns its unused quota when it stops', async () => {
  const id = 'q-stop';
  const shop = await openShop(database, { id, quota: { perHour: 1_000, perDay: 1_000 } });
  const third = await startTestService({ databaseUrl: url, clock, worker: false });
  const client = new SendClient(third, await getToken(third, shop));
  const responses = await Promise.all(
    Array.from({ length: 40 }, () => client.send({ account: id })),
  );
  assert.deepEqual(counted(responses), { 200: 40 });
  await third.stop();
  assert.deepEqual(await use(id), { hour: 40, day: 40 });
});

test('an account without a quota is not counted', async () => {
  const shop = await openShop(database, { id: 'q-none' });
  const client = new SendClient(first, await getToken(first, shop));
  assert.equal((await client.send({ account: 'q-none' })).status, 200);
  assert.equal(await use('q-none'), undefined);
});

test('a message with more recipients than the quota is invalid, which no wait changes', async () => {
  const { one } = await openLimited('q-small', { perHour: 2, perDay: 100 });
  const ccAddressList = ['b@people.test', 'c@people.test'];
  const body = bodyWith({ envelope: { ccAddressList } });
  const refused = await one.send({ account: 'q-small', body });
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /has 3 recipients, but the account’s quota permits 2/);
  assert.equal((await one.send({ account: 'q-small' })).status, 200);
});
