import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../src/accounts/access/permission.ts';
import { addKey } from '../../support/api-key.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { bodyWith } from '../../support/send-client.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, owner, path, as, shop, client: sender } = await openSharedShop();
const schedule = `${path}/scheduled-messages`;
const day = 24 * 60 * 60_000;
const ahead = (ms: number): string => new Date(Date.now() + ms).toISOString();

interface Item {
  readonly messageId: string;
  readonly sendAt: string;
  readonly tag: string | null;
}

async function accept(
  actions: Record<string, unknown>,
  metadata: Record<string, unknown> = {},
): Promise<string> {
  const toAddress = `p${Math.random().toString(36).slice(2)}@people.test`;
  return sender.accept({
    body: bodyWith({ envelope: { toAddress }, actions, metadata }),
  });
}

async function list(query = ''): Promise<Item[]> {
  const response = await owner.get(`${schedule}${query}`);
  assert.equal(response.status, 200, response.text);
  return response.body.items as Item[];
}

const idsOf = (items: readonly Item[]): string[] => items.map(({ messageId }) => messageId);

const waitForState = (id: string, state: string) =>
  waitFor(`${id} ${state}`, async () => (await sender.status(id)).body.state === state);

test('scheduled messages are listed by send time, page by page, and by tag and external ID', async () => {
  const later = await accept({ sendAt: ahead(3 * day) }, { tagList: ['news'] });
  const first = await accept({ sendAt: ahead(day) }, { tagList: ['news'], externalId: 'o-1' });
  const between = await accept({ sendAt: ahead(2 * day) }, { externalId: 'o-2' });
  await accept({});
  const page = await owner.get(`${schedule}?limit=2`);
  assert.deepEqual(idsOf(page.body.items as Item[]), [first, between]);
  assert.deepEqual(idsOf(await list(`?limit=2&cursor=${page.body.nextCursor}`)), [later]);
  assert.deepEqual(idsOf(await list('?tag=news')), [first, later]);
  assert.deepEqual(idsOf(await list('?externalId=o-2')), [between]);
  assert.deepEqual(idsOf(await list(`?from=${ahead(1.5 * day)}&until=${ahead(2.5 * day)}`)), [
    between,
  ]);
  assert.deepEqual(idsOf(await list('?externalId=unknown')), []);
  assert.deepEqual(idsOf(await list(`?messageId=${between}`)), [between]);
});

test('scheduled messages are listed with their subject, but not to a key that can’t read messages', async () => {
  const id = await accept({ sendAt: ahead(day) }, { externalId: 'o-subject' });
  const subjectFor = async (client: Pick<ManagementClient, 'get'>) => {
    const { body } = await client.get(`${schedule}?externalId=o-subject`);
    const [item] = body.items as { messageId: string; subject: string | null }[];
    assert.equal(item?.messageId, id);
    return item?.subject;
  };
  const withKey = async (...scopes: Permission[]) =>
    new ManagementClient(service, await addKey(database, shop.id, { scopes }));
  assert.match(String(await subjectFor(owner)), /^Your order /);
  assert.match(
    String(await subjectFor(await withKey('queue:read', 'messages:read'))),
    /^Your order /,
  );
  assert.equal(await subjectFor(await withKey('queue:read')), null);
});

test('one message is moved, its status shows it, and at the current time it is sent', async () => {
  const id = await accept(
    { sendAt: ahead(5 * day), deliverBefore: ahead(9 * day) },
    { externalId: 'm-1' },
  );
  const sendAt = ahead(8 * day);
  const moved = await owner.post(`${schedule}/move`, { messageId: id, sendAt });
  assert.deepEqual(moved.body, { changed: 1, skipped: 0 });
  const { body } = await sender.status(id);
  assert.deepEqual(body.nextAttempt, { at: sendAt, reason: 'scheduled', paused: null });
  assert.deepEqual(
    (body.events as { kind: string; detail: unknown }[]).map(({ kind }) => kind),
    ['move-asked'],
  );
  const { rows } = await database.pool.query(
    `select extract(epoch from keep_until - send_at)::int as kept from scheduled_message where message_id = $1`,
    [id],
  );
  assert.equal(rows[0].kept, 90 * 86_400);
  const tooLate = await owner.post(`${schedule}/move`, {
    messageId: id,
    sendAt: ahead(9 * day + 1),
  });
  assert.deepEqual(tooLate.body, { changed: 0, skipped: 1 });
  await owner.post(`${schedule}/move`, { messageId: id, sendAt: ahead(0) });
  await waitForState(id, 'delivered');
  assert.deepEqual(await list('?externalId=m-1'), []);
  const audit = await owner.get(`${path}/audit?kind=schedule_move`);
  assert.equal(audit.status, 200, audit.text);
});

test('messages are moved and canceled by tag and by external ID, and no other ones', async () => {
  const ids = [
    await accept({ sendAt: ahead(day) }, { tagList: ['a'], externalId: 'x' }),
    await accept({ sendAt: ahead(2 * day) }, { tagList: ['a'], externalId: 'y' }),
  ];
  const other = await accept({ sendAt: ahead(day) }, { tagList: ['b'], externalId: 'x-2' });
  const sendAt = ahead(4 * day);
  const moved = await owner.post(`${schedule}/move`, { tag: 'a', sendAt });
  assert.deepEqual(moved.body, { changed: 2, skipped: 0 });
  assert.deepEqual(
    (await list('?tag=a')).map((item) => item.sendAt),
    [sendAt, sendAt],
  );
  const canceled = await owner.post(`${schedule}/cancel`, { externalId: 'y' });
  assert.deepEqual(canceled.body, { changed: 1, skipped: 0 });
  assert.deepEqual(idsOf(await list('?tag=a')), [ids[0]]);
  await waitForState(String(ids[1]), 'canceled');
  assert.deepEqual((await owner.post(`${schedule}/cancel`, { tag: 'a' })).body, {
    changed: 1,
    skipped: 0,
  });
  assert.deepEqual((await owner.post(`${schedule}/cancel`, { tag: 'a' })).body, {
    changed: 0,
    skipped: 0,
  });
  assert.deepEqual(idsOf(await list('?tag=b')), [other]);
  assert.equal((await sender.status(other)).body.state, 'queued');
});

test('more messages than one statement takes are moved once each', async () => {
  await database.pool.query(
    `with ids as (select gen_random_uuid() as id, g from generate_series(1, 1201) g),
     stored as (
       insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
         track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content, tag)
       select $1, id, 10090, 't-0001', 1, false, false, false, true, 'c', now(), now(), '{"to":"a@b.test"}', 'many' from ids),
     planned as (
       insert into scheduled_message (account_id, message_id, retention_days, send_at, lifetime_seconds, keep_until, tag)
       select $1, id, 10090, now() + interval '1 day' + g * interval '1 second', 60, now() + interval '91 days', 'many'
       from ids)
     insert into queued_delivery (account_id, message_id, retention_days, priority, due_at, expires_at, recipient, reason)
     select $1, id, 10090, 1, now() + interval '1 day', now() + interval '2 days', 0, 'scheduled' from ids`,
    [shop.id],
  );
  const moved = await owner.post(`${schedule}/move`, { tag: 'many', sendAt: ahead(30 * day) });
  assert.deepEqual(moved.body, { changed: 1201, skipped: 0 });
  const { rows } = await database.pool.query(
    "select count(*)::int as count from message_event where kind = 'move-asked' and retention_days = 10090 and account_id = $1 and message_id in (select message_id from scheduled_message where tag = 'many')",
    [shop.id],
  );
  assert.equal(rows[0].count, 1201);
  assert.equal((await owner.post(`${schedule}/cancel`, { tag: 'many' })).body.changed, 1201);
});

test('a selection has exactly one member, and times have the limits of the send operation', async () => {
  const sendAt = ahead(day);
  for (const body of [{}, { tag: 'a', externalId: 'x' }, { unknown: 'x' }])
    assert.equal((await owner.post(`${schedule}/cancel`, body)).status, 422, JSON.stringify(body));
  for (const time of [ahead(-6 * 60_000), ahead(366 * day), 'tomorrow']) {
    const response = await owner.post(`${schedule}/move`, { tag: 'a', sendAt: time });
    assert.equal(response.status, 422, time);
    assert.match(response.text, /sendAt/);
  }
  assert.equal((await owner.post(`${schedule}/move`, { tag: 'none', sendAt })).status, 200);
});

test('ASVS 4.0.3 5.1.3: a message ID that is none is rejected with its field', async () => {
  for (const [action, more] of [
    ['cancel', {}],
    ['move', { sendAt: ahead(day) }],
  ] as const) {
    const response = await owner.post(`${schedule}/${action}`, { messageId: 'NF7(Ua.2', ...more });
    assert.equal(response.status, 422, response.text);
    assert.match(response.text, /"messageId".*must be a UUID/);
  }
});

test('viewers can’t move or cancel scheduled messages', async () => {
  const viewer = await as('viewer');
  assert.equal((await viewer.post(`${schedule}/cancel`, { tag: 'a' })).status, 403);
  assert.equal(
    (await viewer.post(`${schedule}/move`, { tag: 'a', sendAt: ahead(day) })).status,
    403,
  );
});

test('a scheduled message that is resent is sent at once', async () => {
  const id = await accept({ sendAt: ahead(day), templateVersion: 'due' });
  const message = await owner.get(`${path}/messages/${id}`);
  const [recipient] = message.body.recipients as {
    explanation: { sentence: string };
    address: string;
  }[];
  assert.match(String(recipient?.explanation.sentence), /^It is scheduled for /);
  const { body } = await owner.post(`${path}/messages/${id}/resend`);
  await waitForState(String(body.messageId), 'delivered');
  const [mail] = await readInbox(service.url, `?to=${recipient?.address}&wait=20`);
  assert.ok(Date.parse(mail?.headers.date?.[0] ?? '') <= Date.now());
});
