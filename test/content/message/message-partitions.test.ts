import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../../src/base/database/open-database.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { ensureMessagePartitions } from '../../../src/content/message/message-partitions-store.ts';
import { removeOldIdempotencyKeys } from '../../../src/sending/submission/idempotency-key-store.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database, url, clock } = await createTestDatabase();
const log = createLog('silent');
const week = 7 * 24 * 60 * 60 * 1000;

async function partitionsOf(table: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits
     where inhparent = $1::regclass and inhrelid::regclass::text not like '%\\_rest' order by 1`,
    [table],
  );
  return rows.map((row) => row.name);
}

/** The database of each test has the partitions of the next weeks. */
async function dropPartitions(): Promise<void> {
  for (const table of ['message', 'message_event', 'message_search'])
    for (const name of await partitionsOf(`${table}_90`))
      await database.pool.query(`drop table ${name}`);
}

/** A UUID v7 for a time. */
function idAt(time: number, last = 1): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(last).padStart(12, '0')}`;
}

async function insertMessage(id: string): Promise<string> {
  const { rows } = await database.pool.query<{ partition: string }>(
    `insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
       track_clicks, deliver_when_delayed, client_id, accepted_at, state_at)
     values ('1', $1, 90, 't', 1, false, false, false, true, 'c', now(), now())
     returning tableoid::regclass::text as partition`,
    [id],
  );
  return rows[0]?.partition ?? '';
}

test('a retention class without accounts gets no partitions', async () => {
  await dropPartitions();
  await clock.set(new Date('2030-05-08T12:00:00Z'));
  await ensureMessagePartitions({ database, log });
  assert.deepEqual(await partitionsOf('message_30'), []);
  assert.equal((await partitionsOf('message_90')).length, 3);
  await dropPartitions();
  for (const days of [30, 400])
    await database.pool.query(
      'insert into account (id, name, retention_days) values ($1, $1, $2)',
      [`class-${days}`, days],
    );
});

test('partitions are created for this week and the next two, by class, named after their Monday', async () => {
  await clock.set(new Date('2030-05-15T12:00:00Z'));
  await ensureMessagePartitions({ database, log });
  for (const days of [30, 90, 400]) {
    for (const table of ['message', 'message_event']) {
      assert.deepEqual(
        await partitionsOf(`${table}_${days}`),
        ['20300513', '20300520', '20300527'].map((monday) => `${table}_${days}_${monday}`),
      );
    }
  }
});

test('a message is in the partition of the week in its id, to the millisecond', async () => {
  const monday = Date.parse('2030-05-20T00:00:00Z');
  assert.equal(await insertMessage(idAt(monday - 1)), 'message_90_20300513');
  assert.equal(await insertMessage(idAt(monday)), 'message_90_20300520');
  assert.equal(await insertMessage(idAt(monday + 4 * week)), 'message_90_rest');
});

test('several nodes create each partition once, even as time passes', async () => {
  const nodes = [1, 2, 3].map(() => openDatabase({ url }));
  try {
    await clock.set(new Date('2030-05-27T00:00:00Z'));
    await Promise.all(nodes.map((node) => ensureMessagePartitions({ database: node, log })));
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
  assert.equal((await partitionsOf('message_90')).length, 5);
});

test('rows already in the default partition stay there, and everything else continues', async () => {
  await clock.set(new Date('2030-06-10T00:00:00Z'));
  await ensureMessagePartitions({ database, log });
  const made = await partitionsOf('message_90');
  assert.ok(
    !made.includes('message_90_20300617'),
    'a row of this week stands in the default partition',
  );
  assert.ok(made.includes('message_90_20300624'));
  assert.ok((await partitionsOf('message_30')).includes('message_30_20300617'));
  assert.equal(await insertMessage(idAt(Date.parse('2030-06-18T00:00:00Z'), 2)), 'message_90_rest');
});

test('a held lock delays nothing for long and is not an error', async () => {
  const holder = await database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('lock table message_90 in access exclusive mode');
    const start = performance.now();
    await clock.set(new Date('2030-07-15T00:00:00Z'));
    await ensureMessagePartitions({ database, log });
    assert.ok(performance.now() - start < 45_000);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  await clock.set(new Date('2030-07-15T00:00:00Z'));
  await ensureMessagePartitions({ database, log });
  assert.ok((await partitionsOf('message_90')).includes('message_90_20300715'));
});

test('idempotency keys older than 24 hours are removed in page ranges; others stay', async () => {
  await clock.reset();
  await database.pool.query(`
    insert into idempotency_key (account_id, key, request_hash, message_id, created_at)
    select '1', 'k' || n, '\\x00', gen_random_uuid(), now() - n * interval '1 minute' from generate_series(1, 3000) n`);
  assert.equal(await removeOldIdempotencyKeys(database.kysely, 10), 3_000 - (24 * 60 - 1));
  const { rows } = await database.pool.query<{ youngest: number; oldest: number }>(`
    select min(substr(key, 2)::int) as youngest, max(substr(key, 2)::int) as oldest from idempotency_key`);
  assert.deepEqual(rows, [{ youngest: 1, oldest: 24 * 60 - 1 }]);
});

test('one of several processes removes old idempotency keys, and again after half an hour', async () => {
  const minute = 60_000;
  const removeAt = async (ms: number): Promise<number[]> => {
    await clock.reset();
    await clock.advance(ms);
    await database.pool.query(`
      insert into idempotency_key (account_id, key, request_hash, message_id, created_at)
      values ('1', 'old', '\\x00', gen_random_uuid(), '2020-01-01') on conflict do nothing`);
    const each = [1, 2, 3].map(() => removeOldIdempotencyKeys(database.kysely));
    return (await Promise.all(each)).sort();
  };
  await database.pool.query(`delete from idempotency_key`);
  await database.pool.query(`update idempotency_sweep set begun_at = '-infinity'`);
  assert.deepEqual(await removeAt(0), [0, 0, 1]);
  assert.deepEqual(await removeAt(29 * minute), [0, 0, 0]);
  assert.deepEqual(await removeAt(31 * minute), [0, 0, 1]);
});

test('the planner has statistics of messages and queue entries from 3,000 rows, for every column', async () => {
  await clock.set(new Date('2031-01-08T12:00:00Z'));
  await ensureMessagePartitions({ database, log });
  for (const table of ['queued_delivery', ...(await partitionsOf('message_90'))]) {
    const { rows } = await database.pool.query(
      `select attname from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attstattarget is distinct from 10`,
      [table],
    );
    assert.deepEqual(rows, [], table);
  }
});
