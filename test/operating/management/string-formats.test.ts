import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSharedShop } from '../../support/test-shop.ts';

const { owner, path } = await openSharedShop();
const schedule = `${path}/scheduled-messages`;
const uuid = '019A0000-0000-7000-8000-00000000000a';
const webhook = await owner.post(`${path}/webhooks`, {
  url: 'https://hook.test/',
  kinds: ['delivered'],
});
const replay = `${path}/webhooks/${webhook.body.id}/replay`;
const sendAt = new Date(Date.now() + 3_600_000).toISOString();

test('ASVS 4.0.3 5.1.3: a string of another format is rejected with its field', async () => {
  const time = 'must be a time such as 2026-01-31T12:00:00Z';
  const timeOrDay = `${time}, or a date such as 2026-01-31`;
  for (const [where, body, field, reason] of [
    [`${schedule}/cancel`, { messageId: 'NF7(Ua.2' }, 'messageId', 'must be a UUID'],
    [`${schedule}/move`, { messageId: `${uuid} `, sendAt }, 'messageId', 'must be a UUID'],
    [`${schedule}/move`, { messageId: uuid, sendAt: '2026-02-30T00:00:00Z' }, 'sendAt', time],
    [`${schedule}/move`, { messageId: uuid, sendAt: '2026-02-03' }, 'sendAt', time],
    [replay, { eventId: uuid.replace('-', '') }, 'eventId', 'must be a UUID'],
    [replay, { from: 'today', until: '2026-01-01' }, 'from', timeOrDay],
    [replay, { from: '2026-01-01', until: '2026-13-01' }, 'until', timeOrDay],
  ] as const) {
    const response = await owner.post(where, body);
    assert.equal(response.status, 422, response.text);
    const errors = response.body.errors as { field: string; reason: string }[];
    assert.ok(
      errors.some((error) => error.field === field && error.reason === reason),
      response.text,
    );
  }
  const query = await owner.get(`${schedule}?from=2026-02-30`);
  assert.equal(query.status, 422);
  assert.deepEqual(query.body.errors, [{ field: 'from', reason: timeOrDay }]);
});

test('ASVS 4.0.3 5.1.3: a warm-up that begins on no day of the calendar is rejected', async () => {
  await owner.put(`${path}/domains/shop.test`, {});
  const settings = `${path}/domains/shop.test/settings`;
  const response = await owner.put(settings, { warmUp: { from: '2026-02-30', plan: [50] } });
  assert.equal(response.status, 422, response.text);
  assert.deepEqual(response.body.errors, [
    { field: 'warmUp.from', reason: 'must be a date such as 2026-01-31' },
  ]);
  const large = await owner.put(settings, { warmUp: { from: '2026-02-28', plan: [100_000_001] } });
  assert.equal(large.status, 422, large.text);
});

test('UUIDs in any case and times without seconds are accepted', async () => {
  const canceled = await owner.post(`${schedule}/cancel`, { messageId: uuid });
  assert.deepEqual(canceled.body, { changed: 0, skipped: 0 });
  assert.equal((await owner.get(`${schedule}?from=2026-01-31T12:00Z`)).status, 200);
  assert.equal((await owner.get(`${schedule}?from=2026-01-31`)).status, 200);
});
