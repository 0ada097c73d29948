import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import { type AccountId, type MessageId, newId } from '../../../src/base/values/ids.ts';
import { ensureMessagePartitions } from '../../../src/content/message/message-partitions-store.ts';
import { addSuppressions } from '../../../src/content/suppression/suppression-store.ts';
import { EventFeed } from '../../../src/outcomes/feed/event-feed.ts';
import { lockCursor, moveCursor } from '../../../src/outcomes/feed/feed-cursor-store.ts';
import { nextWindow } from '../../../src/outcomes/feed/feed-window-store.ts';
import { unthrottled } from '../../../src/outcomes/feed/work-throttle.ts';
import { findMessages } from '../../../src/outcomes/report/find-messages-store.ts';
import { rollUp } from '../../../src/outcomes/report/roll-up-store.ts';
import { writeSearchRows } from '../../../src/outcomes/report/search-rows-store.ts';
import { dropOldPartitions } from '../../../src/outcomes/retention/drop-partitions-store.ts';
import { erasePerson, exportPerson } from '../../../src/outcomes/retention/person-data-store.ts';
import {
  applyRetentionRules,
  readRetentionRule,
  saveRetentionRule,
} from '../../../src/outcomes/retention/retention-store.ts';
import { writeEngagements } from '../../../src/outcomes/tracking/engagement-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const world = await DeliveryWorld.create();
const { pool, kysely } = world.database;
const feed = new EventFeed({
  database: world.database,
  log: world.log,
  followers: [writeSearchRows, rollUp],
});
const day = 24 * 60 * 60 * 1000;
/** Applies the retention rules after a number of days. */
async function applyRulesAfter(days: number): Promise<void> {
  await world.clock.advance(days * day);
  await applyRetentionRules(kysely);
  await world.clock.reset();
}

const address = (text: string) => text as ComparableAddress;
const request = (text: string, accountId: AccountId = account) => ({
  accountId,
  address: address(text),
  requestedBy: 'officer',
  hashKey: createSecretKey(Buffer.alloc(32, 1)),
});

const traces = { class: 'person', userAgent: 'Firefox', network: '203.0.113.0/24' };

async function addOpen(id: string, accountId = account): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind, detail)
     values ($1, $2, 90, gen_random_uuid(), now(), 'opened', $3) returning id`,
    [accountId, id, traces],
  );
  return rows[0]?.id ?? '';
}

async function opens(id: string): Promise<unknown[]> {
  const { rows } = await pool.query(
    "select detail from message_event where message_id = $1 and kind = 'opened'",
    [id],
  );
  return rows.map(({ detail }) => detail);
}

/** An account with an endpoint for opens; `recordDelivery` logs an event that was posted but not accepted. */
async function addWebhookAccount(accountId: AccountId) {
  await world.addAccount(accountId);
  const endpointId = newId();
  await pool.query(
    `insert into webhook_endpoint (account_id, id, url, kinds, secret) values ($1, $2, 'https://hook.test', '{opened}', '\\x00')`,
    [accountId, endpointId],
  );
  const recordDelivery = async (id: string, by = kysely): Promise<void> => {
    const line = CompiledQuery.raw(
      `insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, event_at, detail,
         last_request, last_answer)
       values ($1, $2, $3, $4, 90, 'opened', now(), $5, '{"address":"a@people.test"}', 'a@people.test?')`,
      [accountId, endpointId, await addOpen(id, accountId), id, traces],
    );
    await by.executeQuery(line);
  };
  const log = async () => {
    const { rows } = await pool.query(
      'select detail, last_request, last_answer, erased from webhook_delivery where account_id = $1 order by place',
      [accountId],
    );
    return rows;
  };
  return { recordDelivery, log };
}

const cleared = {
  detail: { class: 'person' },
  last_request: null,
  last_answer: null,
  erased: true,
};

test('all data about a person is exported, and the export is recorded', async () => {
  const id = await world.accept({ to: 'Export@people.test', values: { Name: 'Ann' } });
  await addOpen(id);
  await addSuppressions(kysely, account, [
    { address: address('export@people.test'), reason: 'manual' },
  ]);
  await feed.catchUp();
  const parts = await Array.fromAsync(exportPerson(kysely, request('export@people.test')));
  assert.equal(parts.length, 2);
  const message = parts[0]?.message as { id: string; content: { to: string }; events: unknown[] };
  assert.equal(message.id, id);
  assert.equal(message.content.to, 'Export@people.test');
  assert.equal(message.events.length, 1);
  const { rows } = await pool.query(
    "select kind, requested_by, counts from privacy_record where kind = 'export'",
  );
  assert.deepEqual(rows, [
    {
      kind: 'export',
      requested_by: 'officer',
      counts: { messages: 1, contacts: 0, suppressions: 1 },
    },
  ]);
});

test('a message just sent to a person is exported too, and only once', async () => {
  const known = await world.accept({ to: 'fresh@people.test' });
  await feed.catchUp();
  const copies = [];
  for (let count = 0; count < 201; count += 1)
    copies.push(await world.accept({ to: 'fresh@people.test', cc: ['fresh@people.test'] }));
  const exportedMessages = async () => {
    const parts = await Array.fromAsync(exportPerson(kysely, request('fresh@people.test')));
    return parts.map(({ message }) => {
      const { id, recipient } = message as { id: string; recipient: number };
      return `${id} ${recipient}`;
    });
  };
  const all = [`${known} 0`, ...copies.flatMap((id) => [`${id} 0`, `${id} 1`])];
  assert.deepEqual(await exportedMessages(), all);
  await feed.catchUp();
  assert.deepEqual(await exportedMessages(), all);
});

test('erasing a person removes all of their data and nothing else', async () => {
  const own = await world.accept({ to: 'Gone@people.test', cc: ['friend@people.test'] });
  const copy = await world.accept({
    to: 'friend@people.test',
    cc: ['gone@people.test', 'third@people.test'],
  });
  const other = 'a2' as AccountId;
  await world.addAccount(other);
  const elsewhere = await world.accept({ account: other, to: 'gone@people.test' });
  await addOpen(own);
  await addSuppressions(kysely, account, [
    { address: address('gone@people.test'), reason: 'unsubscribe' },
  ]);
  await pool.query(
    `with owner as (
       insert into membership (account_id, person_id, role)
       select $1, id, 'owner' from person where email = $1 || '@shop.test' returning account_id, person_id)
     insert into saved_filter (account_id, person_id, name, query)
     select account_id, person_id, filter ->> 'name', filter -> 'query' from owner, jsonb_array_elements($2::jsonb) as filter`,
    [
      account,
      JSON.stringify([
        { name: 'Of one', query: { recipient: 'Gone@people.test' } },
        { name: 'About gone@people.test', query: { state: 'bounced' } },
        { name: 'Others', query: { recipient: 'friend@people.test' } },
      ]),
    ],
  );
  await feed.catchUp();
  const erased = await erasePerson(kysely, {
    ...request('gone@people.test'),
    keepSuppressions: true,
  });
  const filters = await pool.query('select name from saved_filter');
  assert.deepEqual(filters.rows, [{ name: 'Others' }]);
  assert.deepEqual(erased, { messages: 2, contacts: 0, suppressions: 0 });
  const contents = await pool.query<{ id: string; content: { to: string; cc: string[] } | null }>(
    'select id, content from message where id = any ($1)',
    [[own, copy, elsewhere]],
  );
  const contentOf = (id: string) => contents.rows.find((row) => row.id === id)?.content;
  assert.equal(contentOf(own), null);
  assert.deepEqual(contentOf(copy)?.cc, ['erased@erased.invalid', 'third@people.test']);
  assert.equal(contentOf(copy)?.to, 'friend@people.test');
  assert.equal(contentOf(elsewhere)?.to, 'gone@people.test');
  const { rows: entries } = await pool.query(
    'select recipient, canceled from queued_delivery where message_id = $1 order by 1',
    [copy],
  );
  assert.deepEqual(entries, [
    { recipient: 0, canceled: false },
    { recipient: 1, canceled: true },
    { recipient: 2, canceled: false },
  ]);
  const { rows: left } = await pool.query(
    `select 1 from message_search where account_id = $1 and address = 'gone@people.test'
     union all select 1 from message_event where message_id = $2 and detail::text like '%Firefox%'
     union all select 1 from privacy_record where convert_from(address_hash, 'latin1') like '%gone%'`,
    [account, own],
  );
  assert.deepEqual(left, []);
  const again = await erasePerson(kysely, {
    ...request('gone@people.test'),
    keepSuppressions: false,
  });
  assert.deepEqual(again, { messages: 0, contacts: 0, suppressions: 1 });
});

test('an erased person is removed from every list of the account, and list sizes are updated', async () => {
  for (const list of ['l1', 'l2', 'l3'])
    await pool.query(
      `insert into contact_list (account_id, id, name, source_size, content_hash) values ($1, $2, $2, 2, '\\x01')`,
      [account, list],
    );
  for (const [list, email] of [
    ['l1', 'Gone@lists.test'],
    ['l1', 'gone@lists.test'],
    ['l2', 'gone@lists.test'],
    ['l2', 'stays@lists.test'],
    ['l3', 'stays@lists.test'],
    ['l3', 'other@lists.test'],
  ])
    await pool.query(
      'insert into contact (account_id, list_id, email, fields) values ($1, $2, $3, $4)',
      [account, list, email, '{}'],
    );
  const erased = await erasePerson(kysely, {
    ...request('gone@lists.test'),
    keepSuppressions: true,
  });
  assert.equal(erased.contacts, 3);
  const { rows } = await pool.query(
    `select l.id, l.source_size as size, count(c.*)::int as contacts, content_hash is not null as applied
     from contact_list l left join contact c on c.account_id = l.account_id and c.list_id = l.id
     where l.account_id = $1 group by 1, 2, 4 order by 1`,
    [account],
  );
  assert.deepEqual(rows, [
    { id: 'l1', size: 0, contacts: 0, applied: true },
    { id: 'l2', size: 1, contacts: 1, applied: true },
    { id: 'l3', size: 2, contacts: 2, applied: true },
  ]);
});

test('a person is also erased from rows that a follower is about to write', async () => {
  const id = await world.accept({ to: 'racing@people.test' });
  let erasing: ReturnType<typeof erasePerson> | undefined;
  await kysely.transaction().execute(async (follower) => {
    const position = await lockCursor(follower, 'search');
    const window = position && (await nextWindow(follower, position, 1_000));
    assert.ok(window);
    await writeSearchRows.follow(follower, window, unthrottled);
    erasing = erasePerson(kysely, { ...request('racing@people.test'), keepSuppressions: true });
    await waitForLock(world.database);
    await moveCursor(follower, 'search', window);
  });
  assert.equal((await erasing)?.messages, 1);
  const { rows } = await pool.query('select address from message_search where message_id = $1', [
    id,
  ]);
  assert.deepEqual(rows, [{ address: null }]);
});

test('a person is also erased from pending webhook events', async () => {
  const accountId = 'a3' as AccountId;
  const { recordDelivery, log } = await addWebhookAccount(accountId);
  const id = await world.accept({ account: accountId, to: 'told@people.test' });
  await pool.query('insert into webhook_position (account_id, page, size) values ($1, 0, 0)', [
    accountId,
  ]);
  let erasing: ReturnType<typeof erasePerson> | undefined;
  await kysely.transaction().execute(async (worker) => {
    await sql`select from webhook_position where account_id = ${accountId} for update`.execute(
      worker,
    );
    await recordDelivery(id, worker);
    erasing = erasePerson(kysely, {
      ...request('told@people.test', accountId),
      keepSuppressions: true,
    });
    await waitForLock(world.database);
  });
  assert.equal((await erasing)?.messages, 1);
  assert.deepEqual(await log(), [cleared]);
  assert.deepEqual(await opens(id), [{ class: 'person' }]);
});

test('an open after its person was erased is recorded without the reader’s device', async () => {
  const gone = await world.accept({ to: 'opens@people.test' });
  const kept = await world.accept({ to: 'stays@people.test' });
  await pool.query("update message set state = 'delivered' where id = any ($1)", [[gone, kept]]);
  await erasePerson(kysely, { ...request('opens@people.test'), keepSuppressions: true });
  const open = (messageId: MessageId) => ({
    id: newId(),
    message: { accountId: account, messageId, retentionDays: 90 },
    kind: 'opened' as const,
    at: performance.now(),
    link: undefined,
    hidden: false,
    verdict: { class: 'person' as const, reason: 'no sign of a scanner or prefetch' },
    userAgent: 'Firefox',
    network: '203.0.113.0/24',
  });
  await writeEngagements(world.database, [open(gone), open(kept)], true);
  const told = { class: 'person', reason: 'no sign of a scanner or prefetch' };
  assert.deepEqual(await opens(gone), [told]);
  assert.deepEqual(await opens(kept), [
    { ...told, network: '203.0.113.0/24', userAgent: 'Firefox' },
  ]);
});

test('an address skipped as suppressed is found and erased, even before its search row is written', async () => {
  const store = async (content: object) => {
    const id = await world.accept({ to: 'friend@people.test' });
    await pool.query('update message set content = $2 where id = $1', [id, content]);
    return id;
  };
  const content = {
    to: 'friend@people.test',
    suppressedCc: ['Left@people.test', 'third@people.test'],
    from: { address: 'orders@shop.test' },
    values: {},
  };
  const known = await store(content);
  await feed.catchUp();
  const { found } = await findMessages(kysely, account, { address: 'left@people.test', limit: 10 });
  assert.deepEqual(
    found.map(({ messageId, state, recipient }) => [messageId, state, recipient]),
    [[known, 'suppressed', 12]],
  );
  const fresh = await store({ ...content, cc: ['third@people.test'] });
  const ask = { ...request('left@people.test'), keepSuppressions: true };
  assert.equal((await erasePerson(kysely, ask)).messages, 2);
  const { rows } = await pool.query(
    "select id, content ->> 'suppressedCc' as left_out, content ->> 'cc' as cc from message where id = any ($1) order by id",
    [[known, fresh]],
  );
  const nobody = '["erased@erased.invalid", "third@people.test"]';
  assert.deepEqual(rows, [
    { id: known, left_out: nobody, cc: null },
    { id: fresh, left_out: nobody, cc: '["third@people.test"]' },
  ]);
  const entries = await pool.query(
    'select recipient, canceled from queued_delivery where message_id = $1 order by 1',
    [fresh],
  );
  assert.deepEqual(entries.rows, [{ recipient: 0, canceled: false }]);
  await feed.catchUp();
  assert.equal((await erasePerson(kysely, ask)).messages, 0);
});

test('a retention rule removes values, then addresses, then opens, from old messages only', async () => {
  const id = await world.accept({ to: 'old@people.test', values: { Name: 'Ann' } });
  await addOpen(id);
  await pool.query('delete from queued_delivery where message_id = $1', [id]);
  await feed.catchUp();
  assert.deepEqual(await readRetentionRule(kysely, account), {
    contentDays: null,
    addressDays: null,
    engagementDays: null,
  });
  await saveRetentionRule(kysely, account, { contentDays: 3, addressDays: 10, engagementDays: 20 });
  await applyRulesAfter(2);
  assert.deepEqual((await world.content(id)).values, { Name: 'Ann' });
  await applyRulesAfter(4);
  const content = await world.content(id);
  assert.deepEqual([content.to, content.values], ['old@people.test', {}]);
  await applyRulesAfter(11);
  assert.equal(await world.content(id), null);
  const { rows } = await pool.query('select address from message_search where message_id = $1', [
    id,
  ]);
  assert.deepEqual(rows, [{ address: null }]);
  assert.deepEqual(await opens(id), [{ class: 'person' }], 'without the reader’s machine');
  await applyRulesAfter(21);
  assert.deepEqual(await opens(id), []);
  await assert.rejects(
    saveRetentionRule(kysely, account, { contentDays: 1, addressDays: null, engagementDays: null }),
  );
});

test('late opens are removed too, once followers have read them', async () => {
  const accountId = 'a4' as AccountId;
  await world.addAccount(accountId);
  await saveRetentionRule(kysely, accountId, {
    contentDays: null,
    addressDays: null,
    engagementDays: 3,
  });
  const id = await world.accept({ account: accountId });
  await feed.catchUp();
  await applyRulesAfter(4);
  await addOpen(id, accountId);
  await applyRulesAfter(4);
  assert.equal((await opens(id)).length, 1, 'it is not counted yet');
  await feed.catchUp();
  await applyRulesAfter(2);
  assert.equal((await opens(id)).length, 1);
  await applyRulesAfter(4);
  assert.deepEqual(await opens(id), []);
});

test('an open after earlier ones were deleted counts, but not as a unique one', async () => {
  const accountId = 'a8' as AccountId;
  await world.addAccount(accountId);
  await saveRetentionRule(kysely, accountId, {
    contentDays: null,
    addressDays: null,
    engagementDays: 3,
  });
  const id = await world.accept({ account: accountId });
  for (let time = 0; time < 3; time += 1) {
    await addOpen(id, accountId);
    await feed.catchUp();
    await applyRulesAfter(4);
    assert.deepEqual(await opens(id), []);
  }
  const { rows } = await pool.query(
    `select sum(opened_people)::int as opened, sum(opened_people_unique)::int as "unique"
     from report_total where account_id = $1`,
    [accountId],
  );
  assert.deepEqual(rows, [{ opened: 3, unique: 1 }]);
});

test('webhook events of a message lose personal data together with its addresses or its opens', async () => {
  const never = { contentDays: null, addressDays: null, engagementDays: null };
  for (const [accountId, rule] of [
    ['a5' as AccountId, { ...never, addressDays: 3 }],
    ['a6' as AccountId, { ...never, engagementDays: 3 }],
  ] as const) {
    const { recordDelivery, log } = await addWebhookAccount(accountId);
    await saveRetentionRule(kysely, accountId, rule);
    const id = await world.accept({ account: accountId });
    await recordDelivery(id);
    await feed.catchUp();
    await applyRulesAfter(2);
    assert.deepEqual((await log())[0]?.detail, traces);
    await applyRulesAfter(4);
    assert.deepEqual(await log(), [cleared]);
  }
});

test('a message that still waits when its values are removed is canceled instead of sent without them', async () => {
  const id = await world.accept({ to: 'waiting@people.test', values: { Name: 'Ann' } });
  await pool.query("update queued_delivery set due_at = 'infinity' where message_id = $1", [id]);
  await saveRetentionRule(kysely, account, {
    contentDays: 3,
    addressDays: null,
    engagementDays: null,
  });
  await world.clock.advance(4 * day);
  await applyRetentionRules(kysely);
  assert.equal(await world.content(id), null);
  const { rows } = await pool.query(
    'select canceled, due_at <= now() as due from queued_delivery where message_id = $1',
    [id],
  );
  assert.deepEqual(rows, [{ canceled: true, due: true }]);
  await world.clock.reset();
});

test('partitions are dropped once all their rows exceed the retention of their class', async () => {
  const kept = await world.accept({ to: 'kept@people.test' });
  await pool.query(
    `insert into account (id, name, retention_days) values ('class-30', 'a', 30), ('class-400', 'b', 400)`,
  );
  await ensureMessagePartitions({ database: world.database, log: world.log });
  const partitions = async () => {
    const { rows } = await pool.query<{ name: string }>(
      "select relname as name from pg_class where relname ~ '^message(_event|_search)?_(30|90|400)_[0-9]{8}$' and relkind = 'r' order by relname",
    );
    return rows.map(({ name }) => name);
  };
  const before = await partitions();
  assert.ok(before.length >= 18);
  await dropOldPartitions(world.database, world.log);
  assert.deepEqual(await partitions(), before);
  await world.clock.advance(60 * day);
  await dropOldPartitions(world.database, world.log);
  await world.clock.reset();
  const after = await partitions();
  assert.ok(after.every((name) => !name.includes('_30_')));
  assert.equal(
    after.filter((name) => name.includes('_90_')).length,
    before.filter((name) => name.includes('_90_')).length,
  );
  assert.equal(await world.state(kept), 'queued');
  const isQueued = async () =>
    (await pool.query('select from queued_delivery where message_id = $1', [kept])).rowCount === 1;
  assert.equal(await isQueued(), true);
  await world.clock.advance(130 * day);
  await dropOldPartitions(world.database, world.log);
  await world.clock.reset();
  assert.equal(await world.state(kept), 'gone');
  assert.equal(await isQueued(), false);
});
