import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildIndexes, migrate, parseIndexes } from '../../src/base/database/migrate.ts';
import { type Migration, readMigrations } from '../../src/base/database/migration-files.ts';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const { pool } = database;
await pool.query(`
  create table test_plain (id integer, note text);
  insert into test_plain select n, n from generate_series(1, 1000) n;
  create table test_parted (id integer, days integer, note text) partition by list (days);
  create table test_parted_30 partition of test_parted for values in (30) partition by range (id);
  create table test_parted_30_1 partition of test_parted_30 for values from (0) to (1000);
  create table test_parted_30_rest partition of test_parted_30 default;
  create table test_parted_90 partition of test_parted for values in (90);
  insert into test_parted select n, case n % 2 when 0 then 30 else 90 end, n from generate_series(1, 2000) n`);

interface IndexState {
  readonly table: string;
  readonly valid: boolean;
  readonly attached: boolean;
}

async function indexesOf(table: string): Promise<IndexState[]> {
  const { rows } = await pool.query<IndexState>(
    `select x.indrelid::regclass::text as table, indisvalid as valid, c.relispartition as attached
     from pg_index x join pg_class c on c.oid = x.indexrelid
     where x.indrelid::regclass::text like $1 order by 1`,
    [`${table}%`],
  );
  return rows;
}

async function idsOfValid(): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>(
    `select indexrelid as id from pg_index
     where indisvalid and indrelid::regclass::text like 'test_parted%'`,
  );
  return rows.map(({ id }) => id);
}

const run = (text: string) => pool.query(text);
const valid = (table: string, attached: boolean): IndexState => ({ table, valid: true, attached });
const allParts = [
  valid('test_parted', false),
  valid('test_parted_30', true),
  valid('test_parted_30_1', true),
  valid('test_parted_30_rest', true),
  valid('test_parted_90', true),
];

test('an index on a partitioned table is built on each partition, and new partitions get it', async () => {
  await buildIndexes(run, 'create index concurrently test_parted_note on test_parted (note);');
  assert.deepEqual(await indexesOf('test_parted'), allParts);
  await pool.query('create table test_parted_400 partition of test_parted for values in (400)');
  assert.deepEqual(await indexesOf('test_parted_400'), [valid('test_parted_400', true)]);
  await pool.query('drop table test_parted_400; drop index test_parted_note');
});

test('a build that was stopped after any statement continues, and keeps what was finished', async () => {
  const statement = 'create index concurrently test_parted_note on test_parted (note)';
  let statements = 0;
  await buildIndexes(async (text) => {
    statements += 1;
    return await run(text);
  }, statement);
  await pool.query('drop index test_parted_note');
  assert.ok(statements > 6);
  for (let stopAfter = 1; stopAfter < statements; stopAfter += 1) {
    let done = 0;
    const stopped = buildIndexes(async (text) => {
      done += 1;
      if (done > stopAfter) throw new Error('stopped');
      return await run(text);
    }, statement);
    await assert.rejects(stopped, /stopped/);
    const finished = await idsOfValid();
    await buildIndexes(run, statement);
    assert.deepEqual(await indexesOf('test_parted'), allParts, `stopped after ${stopAfter}`);
    const kept = await idsOfValid();
    assert.ok(
      finished.every((id) => kept.includes(id)),
      'a finished index was built again',
    );
    await pool.query('drop index test_parted_note');
  }
});

test('an index whose build was killed, so that it is invalid, is built anew', async () => {
  await pool.query('insert into test_plain values (1, $1)', ['again']);
  const statement = 'create unique index concurrently test_plain_id on test_plain (id)';
  await assert.rejects(buildIndexes(run, statement), /could not create unique index/);
  assert.deepEqual(await indexesOf('test_plain'), [
    { table: 'test_plain', valid: false, attached: false },
  ]);
  await pool.query("delete from test_plain where note = 'again'");
  await buildIndexes(run, statement);
  assert.deepEqual(await indexesOf('test_plain'), [valid('test_plain', false)]);
});

test('a partition that is dropped meanwhile is skipped', async () => {
  await pool.query('create table test_parted_7 partition of test_parted for values in (7)');
  await buildIndexes(async (text) => {
    if (/concurrently .* on test_parted_7 /.test(text))
      await pool.query('drop table test_parted_7');
    return await run(text);
  }, 'create index concurrently test_parted_note on test_parted (note)');
  assert.deepEqual(await indexesOf('test_parted'), allParts);
  await pool.query('drop index test_parted_note');
});

test('a migration with a concurrent index contains nothing else', () => {
  for (const sql of [
    'create index concurrently a on test_plain (id); alter table test_plain add x text',
    'create index concurrently if not exists a on test_plain (id)',
    'create index concurrently on test_plain (id)',
    `create index concurrently ${'a'.repeat(51)} on test_plain (id)`,
  ])
    assert.throws(() => parseIndexes(sql), /consists of/, sql);
});

test('rows are written while a migration builds an index, and nodes that wait for it hold it up no longer than it takes', async () => {
  const migration: Migration = {
    version: 9001,
    name: '9001-index.sql',
    sql: 'create index concurrently test_parted_note on test_parted (note)',
    sha256: 'x',
    contractsAfter: undefined,
  };
  const all = [...(await readMigrations()), migration];
  // The build waits for this transaction, which began before it.
  const writer = await pool.connect();
  await writer.query('begin; insert into test_parted values (1, 30, 1)');
  const nodes = [1, 2, 3].map(() => openDatabase({ url }));
  try {
    const applied = Promise.all(nodes.map((node) => migrate(node, all)));
    await waitFor('the build to wait for the writer', async () => {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like 'create index concurrently%'`,
      );
      return rowCount === 1;
    });
    await pool.query('insert into test_parted values (2, 90, 2)');
    await writer.query('commit');
    assert.deepEqual((await applied).flat(), [migration.name]);
    assert.deepEqual(await indexesOf('test_parted'), allParts);
  } finally {
    writer.release();
    await Promise.all(nodes.map((node) => node.close()));
  }
});
