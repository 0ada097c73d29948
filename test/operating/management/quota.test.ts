import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedShop } from '../../support/management-client.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, owner, path, makeOperator, client } = await openSharedShop({
  worker: false,
});
await makeOperator();
const whole = `/installation${path}`;

interface Window {
  readonly limit: number | null;
  readonly used: number;
  readonly endsAt: string;
}

async function useOf(): Promise<{ hour: Window; day: Window }> {
  const { status, body } = await owner.get(`${path}/quota-use`);
  assert.equal(status, 200);
  return body as unknown as { hour: Window; day: Window };
}

test('an operator sets a quota; its usage and reset time are shown', async () => {
  const before = await useOf();
  assert.equal(before.day.limit, null);
  const set = await owner.put(whole, { name: 'Shop', quota: { perDay: 5 } });
  assert.deepEqual(set.body.quota, { perHour: null, perDay: 5 });
  await waitFor('the quota to take effect', async () => (await useOf()).day.limit === 5);
  for (let n = 0; n < 5; n += 1) assert.equal((await client.send()).status, 200);
  assert.equal((await client.send()).status, 429);
  await waitFor('the usage to be written', async () => (await useOf()).day.used === 5);
  const { day, hour } = await useOf();
  assert.equal(hour.limit, null);
  const left = Date.parse(day.endsAt) - Date.now();
  assert.ok(left > 0 && left <= 86_400_000);
  assert.equal(new Date(day.endsAt).getUTCHours(), 0);
  const { body } = await owner.get(`${path}/attention`);
  const kinds = (body.items as { kind: string }[]).map(({ kind }) => kind);
  assert.ok(kinds.includes('quota-used-up'), kinds.join());
});

test('test messages count against the quota and get a 429 with Retry-After', async () => {
  const refused = await owner.post(`${path}/templates/t-0001/test-send`, { to: 'me@shop.test' });
  assert.equal(refused.status, 429, refused.text);
  assert.equal(refused.body.type, '/problems/too-many-requests');
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});

test('omitted quotas stay; an empty quota removes it', async () => {
  const renamed = await owner.put(whole, { name: 'Shop again' });
  assert.deepEqual(renamed.body.quota, { perHour: null, perDay: 5 });
  const wrong = await owner.put(whole, { name: 'Shop', quota: { perDay: -1, perWeek: 2 } });
  assert.equal(wrong.status, 422);
  const none = await owner.put(whole, { name: 'Shop', quota: {} });
  assert.deepEqual(none.body.quota, { perHour: null, perDay: null });
  await waitFor('no quota', async () => (await client.send()).status === 200);
});

test('owners who aren’t operators can’t change the quota', async () => {
  const { owner: stranger } = await openManagedShop(database, service, newAccountId());
  assert.equal((await stranger.put(whole, { name: 'Shop', quota: {} })).status, 403);
  const attempt = await owner.put(path, { name: 'Shop', quota: { perHour: 9 } });
  assert.equal(attempt.status, 422);
});
