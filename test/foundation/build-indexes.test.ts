import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildIndexes, parseIndexes } from '../../src/foundation/database/build-indexes.ts';
import { migrate } from '../../src/foundation/database/migrate.ts';
import { type Migration, readMigrations } from '../../src/foundation/database/migration-files.ts';
import { openDatabase } from '../../src/foundation/database/open-database.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const { pool } = database;
await pool.query(`
  create table plain (id integer, note text);
  insert into plain select n, n from generate_series(1, 1000) n;
  create table parted (id integer, days integer, note text) partition by list (days);
  create table parted_30 partition of parted for values in (30) partition by range (id);
  create table parted_30_1 partition of parted_30 for values from (0) to (1000);
  create table parted_30_rest partition of parted_30 default;
  create table parted_90 partition of parted for values in (90);
  insert into parted select n, case n % 2 when 0 then 30 else 90 end, n from generate_series(1, 2000) n`);

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
     where indisvalid and indrelid::regclass::text like 'parted%'`,
  );
  return rows.map(({ id }) => id);
}

const run = (text: string) => pool.query(text);
const valid = (table: string, attached: boolean): IndexState => ({ table, valid: true, attached });
const allParts = [
  valid('parted', false),
  valid('parted_30', true),
  valid('parted_30_1', true),
  valid('parted_30_rest', true),
  valid('parted_90', true),
];

test('an index on a partitioned table is built on each partition, and new partitions get it', async () => {
  await buildIndexes(run, 'create index concurrently parted_note on parted (note);');
  assert.deepEqual(await indexesOf('parted'), allParts);
  await pool.query('create table parted_400 partition of parted for values in (400)');
  assert.deepEqual(await indexesOf('parted_400'), [valid('parted_400', true)]);
  await pool.query('drop table parted_400; drop index parted_note');
});

test('a build that was stopped after any statement continues, and keeps what was finished', async () => {
  const statement = 'create index concurrently parted_note on parted (note)';
  let statements = 0;
  await buildIndexes(async (text) => {
    statements += 1;
    return await run(text);
  }, statement);
  await pool.query('drop index parted_note');
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
    assert.deepEqual(await indexesOf('parted'), allParts, `stopped after ${stopAfter}`);
    const kept = await idsOfValid();
    assert.ok(
      finished.every((id) => kept.includes(id)),
      'a finished index was built again',
    );
    await pool.query('drop index parted_note');
  }
});

test('an index whose build was killed, so that it is invalid, is built anew', async () => {
  await pool.query('insert into plain values (1, $1)', ['again']);
  const statement = 'create unique index concurrently plain_id on plain (id)';
  await assert.rejects(buildIndexes(run, statement), /could not create unique index/);
  assert.deepEqual(await indexesOf('plain'), [{ table: 'plain', valid: false, attached: false }]);
  await pool.query("delete from plain where note = 'again'");
  await buildIndexes(run, statement);
  assert.deepEqual(await indexesOf('plain'), [valid('plain', false)]);
});

test('a partition that is dropped meanwhile is skipped', async () => {
  await pool.query('create table parted_7 partition of parted for values in (7)');
  await buildIndexes(async (text) => {
    if (/concurrently .* on parted_7 /.test(text)) await pool.query('drop table parted_7');
    return await run(text);
  }, 'create index concurrently parted_note on parted (note)');
  assert.deepEqual(await indexesOf('parted'), allParts);
  await pool.query('drop index parted_note');
});

test('a migration with a concurrent index contains nothing else', () => {
  for (const sql of [
    'create index concurrently a on plain (id); alter table plain add x text',
    'create index concurrently if not exists a on plain (id)',
    'create index concurrently on plain (id)',
    `create index concurrently ${'a'.repeat(51)} on plain (id)`,
  ])
    assert.throws(() => parseIndexes(sql), /consists of/, sql);
});

test('rows are written while a migration builds an index, and nodes that wait for it hold it up no longer than it takes', async () => {
  const migration: Migration = {
    version: 9001,
    name: '9001-index.sql',
    sql: 'create index concurrently parted_note on parted (note)',
    sha256: 'x',
    contractsAfter: undefined,
  };
  const all = [...(await readMigrations()), migration];
  // The build waits for this transaction, which began before it.
  const writer = await pool.connect();
  await writer.query('begin; insert into parted values (1, 30, 1)');
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
    await pool.query('insert into parted values (2, 90, 2)');
    await writer.query('commit');
    assert.deepEqual((await applied).flat(), [migration.name]);
    assert.deepEqual(await indexesOf('parted'), allParts);
  } finally {
    writer.release();
    await Promise.all(nodes.map((node) => node.close()));
  }
});
