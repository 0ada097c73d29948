/** What waits in the queue while processes of 0.2 run beside those of this release, and when an operator goes back to 0.2. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReleasedDatabase } from '../support/released-database.ts';

const { pool, upgrade } = await createReleasedDatabase();

/** What a process does every 3 seconds. @param latest the last migration of its release */
async function report(node: string, latest: number): Promise<void> {
  await pool.query(
    `insert into key_node (node, name, known, current, latest_migration) values ($1, '', '{}', '', $2)
     on conflict (node) do update set seen_at = now()`,
    [node, latest],
  );
}

const stop = (node: string) => pool.query('delete from key_node where node = $1', [node]);

const [old, fresh] = [
  '00000000-0000-0000-0000-000000000001',
  '00000000-0000-0000-0000-000000000002',
];

const messageOf = (name: string) => `00000000-0000-0000-0000-0000000000${name}`;

/** Entries as 0.2 wrote them, and the message of one that was scheduled. */
async function fill(): Promise<void> {
  await pool.query(
    `insert into queue_entry (account_id, message_id, retention_days, priority, due_at, expires_at, attempts, lease_owner, fence,
       stage, pending, held, paused, canceled, in_transaction, doubtful, reason)
     select 'a', ('00000000-0000-0000-0000-0000000000' || name)::uuid, case name when 'c0' then 10090 else 90 end, 1, now() + due, now() + interval '1 day', attempts,
       case when stage is not null then gen_random_uuid() end, attempts, stage, pending::smallint[], held::smallint[], paused,
       canceled, under_way::smallint[], doubtful::smallint[], reason
     from (values
       ('a0', interval '0', 0, null, '{0}', '{}', false, false, null, null, null),
       ('b0', '1 hour', 1, 'dot', '{0,1,2}', '{}', false, false, '{0}', null, null),
       ('c0', '2 hours', 3, null, '{2}', '{1}', false, false, null, '{2}', '451'),
       ('d0', '-1 second', 2, 'dot', '{1,2}', '{}', false, false, '{1}', null, null),
       ('e0', '-1 second', 1, 'dot', '{0,1}', '{}', false, false, null, null, null),
       ('f0', 'infinity', 1, null, '{0,1}', '{}', true, false, null, null, 'paused manually'),
       ('10', '0', 1, null, '{}', '{}', false, false, null, null, null),
       ('20', '0', 1, null, '{0}', '{}', false, true, null, null, null)
     ) as e (name, due, attempts, stage, pending, held, paused, canceled, under_way, doubtful, reason)`,
  );
  await pool.query(
    `insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens, track_clicks,
       deliver_when_delayed, client_id, accepted_at, state_at, content)
     values ('a', $1, 10090, 'note', 1, false, false, false, true, 'test', now(), now(), '{"to": "a@b.test"}')`,
    [messageOf('c0')],
  );
}

async function entries() {
  const { rows } = await pool.query(
    `select right(message_id::text, 2) as name, pending, held, stage, in_transaction as "underWay", doubtful, paused, canceled,
       attempts, reason, due_at = 'infinity' as endless, lease_owner is not null as leased
     from queue_entry order by message_id`,
  );
  return rows;
}

async function deliveries(): Promise<unknown[][]> {
  const { rows } = await pool.query(
    `select right(message_id::text, 2) as name, recipient, concat_ws(' ', stage, case when held then 'held' end,
       case when paused then 'paused' end, case when canceled then 'canceled' end, case when doubtful then 'doubtful' end,
       case when due_at = 'infinity' then 'endless' end, case when lease_owner is not null then 'leased' end) as state,
       attempts, fence::int, reason
     from queued_delivery order by message_id, recipient`,
  );
  return rows.map((row) => Object.values(row));
}

const adopted = [
  ['10', -1, '', 1, 1, null],
  ['20', 0, 'canceled', 1, 1, null],
  ['a0', 0, '', 0, 0, null],
  ['c0', 1, 'held endless', 3, 3, '451'],
  ['c0', 2, 'doubtful', 3, 3, '451'],
  ['d0', 1, 'dot leased', 2, 2, null],
  ['d0', 2, 'claimed leased', 2, 2, null],
  ['e0', 0, 'dot leased', 1, 1, null],
  ['e0', 1, 'dot leased', 1, 1, null],
  ['f0', 0, 'paused endless', 1, 1, 'paused manually'],
  ['f0', 1, 'paused endless', 1, 1, 'paused manually'],
];
const leased = [
  ['b0', 0, 'dot leased', 1, 1, null],
  ['b0', 1, 'claimed leased', 1, 1, null],
  ['b0', 2, 'claimed leased', 1, 1, null],
];

test('a process of this release takes over what waits, recipient by recipient, and leaves what another sends', async () => {
  await report(old, 80);
  await fill();
  await upgrade();
  await report(old, 80);
  assert.equal((await entries()).length, 8, 'while only 0.2 runs, all of it is there');
  await report(fresh, 110);
  assert.deepEqual(await deliveries(), adopted);
  assert.deepEqual(
    (await entries()).map(({ name }) => name),
    ['b0'],
  );
});

test('what the send time of a message decided for its first attempt counts for the next ones', async () => {
  const { rows } = await pool.query('select content from message where id = $1', [messageOf('c0')]);
  assert.deepEqual(rows, [{ content: { to: 'a@b.test', checkedAtDue: true } }]);
});

test('an operator who goes back gets everything back', async () => {
  const before = await deliveries();
  await report(old, 80);
  assert.deepEqual(await deliveries(), before, 'not while this release runs');
  await stop(fresh);
  await pool.query(
    `update queued_delivery set lease_owner = gen_random_uuid(), due_at = now() + interval '1 hour' where message_id = $1 and recipient = 1`,
    [messageOf('c0')],
  );
  await report(old, 80);
  assert.deepEqual(
    (await deliveries()).map(([name]) => name),
    ['c0', 'c0'],
    'one that is being sent stays until its lease ends',
  );
  await pool.query('update queued_delivery set lease_owner = null');
  await report(old, 80);
  assert.deepEqual(await deliveries(), []);
  const found = (await entries()).filter(({ name }) => name !== 'b0');
  assert.deepEqual(
    found.map(({ name, pending, held, stage, underWay, doubtful }) => [
      ...[name, pending, held, stage, underWay, doubtful],
    ]),
    [
      ['10', [], [], null, null, null],
      ['20', [0], [], null, null, null],
      ['a0', [0], [], null, null, null],
      ['c0', [2], [1], null, null, [2]],
      ['d0', [1, 2], [], 'dot', [1], null],
      ['e0', [0, 1], [], 'dot', [0, 1], null],
      ['f0', [0, 1], [], null, null, null],
    ],
  );
  for (const { name, paused, canceled, endless, leased: isLeased } of found)
    assert.deepEqual(
      [paused, canceled, endless, isLeased],
      [name === 'f0', name === '20', name === 'f0', name === 'd0' || name === 'e0'],
      name,
    );
});

test('once no process of 0.2 runs, the rest is taken over with its leases, and its table is dropped', async () => {
  await stop(old);
  await upgrade();
  assert.deepEqual(
    (await deliveries()).map(([name, recipient, state]) => [name, recipient, state]),
    [...adopted, ...leased]
      .map(([name, recipient, state]) => [name, recipient, state])
      .sort((one, other) => (`${one[0]}${one[1]}` < `${other[0]}${other[1]}` ? -1 : 1)),
  );
  const { rows } = await pool.query("select to_regclass('queue_entry') as left");
  assert.deepEqual(rows, [{ left: null }]);
  await report(fresh, 111);
});
