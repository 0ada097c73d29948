import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Migration, splitStatements } from '../../src/base/database/migration-files.ts';
import { planLocks } from '../../src/base/database/plan-locks.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { database } = await createTestDatabase();
await database.pool.query(`
  create table parent (id integer, at date) partition by range (at);
  create table parent_1 partition of parent default;
  insert into parent select n, '2026-01-01' from generate_series(1, 3000) n;
  analyze parent_1`);

function plan(sql: string): Promise<string[]> {
  const migration: Migration = {
    version: 1,
    name: '0001-x.sql',
    sql,
    sha256: '',
    contractsAfter: undefined,
  };
  return planLocks(database.pool, migration);
}

test('each kind of statement says what waits, for how many rows of a table with its partitions', async () => {
  for (const [sql, line] of [
    ['alter table parent add note text', 'parent: locked for milliseconds'],
    [
      'create index on parent (id)',
      'parent: writes wait while an index is built (3,000 rows, about 1 s)',
    ],
    [
      'create index concurrently named on parent (id)',
      'parent: nothing waits while an index is built (3,000 rows, about 1 s)',
    ],
    [
      'create unique index named on parent (id)',
      'parent: writes wait while an index is built (3,000 rows, about 1 s)',
    ],
    [
      'alter table parent add constraint positive check (id > 0)',
      'parent: reads and writes wait while rows are checked (3,000 rows, about 1 s)',
    ],
    [
      'alter table parent add constraint positive check (id > 0) not valid',
      'parent: locked for milliseconds',
    ],
    [
      'alter table parent validate constraint positive',
      'parent: nothing waits while a constraint is checked (3,000 rows, about 1 s)',
    ],
    [
      'update parent set id = 1',
      'parent: nothing waits while rows are changed (3,000 rows, about 1 s)',
    ],
    [
      'alter table parent alter id type bigint',
      'parent: reads and writes wait while the table is rewritten (3,000 rows, about 1 s)',
    ],
  ] as const)
    assert.deepEqual(await plan(`-- Why.\n${sql};\n`), [line], sql);
});

test('tables that the migration creates lock nothing', async () => {
  assert.deepEqual(await plan('create table fresh (id integer); create index on fresh (id);'), []);
});

test('statements end at semicolons outside quotes and function bodies', () => {
  assert.deepEqual(
    splitStatements(`select ';';
      -- a comment; with one
      create function f() returns void language plpgsql as $$ begin perform 1; end $$;
      create function g() returns void language sql as $body$ select 1; $body$`),
    [
      "select ';'",
      'create function f() returns void language plpgsql as $$ begin perform 1; end $$',
      'create function g() returns void language sql as $body$ select 1; $body$',
    ],
  );
});
