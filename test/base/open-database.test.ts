import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { openDatabase, requireServerVersion } from '../../src/base/database/open-database.ts';
import { isUnavailable } from '../../src/base/database/sqlstate.ts';
import { openGate } from '../support/tcp-gate.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';

const { url } = await createTestDatabase();

test('rule 1: commits are flushed to disk, whatever the options of DATABASE_URL', async () => {
  const own = new URL(url);
  own.searchParams.set('options', '-c synchronous_commit=off -c work_mem=5MB');
  for (const each of [url, own.href]) {
    const database = openDatabase({ url: each });
    const { rows } = await database.pool.query(
      "select current_setting('synchronous_commit') as commit, current_setting('work_mem') as memory",
    );
    await database.close();
    assert.deepEqual(rows, [{ commit: 'on', memory: each === url ? '4MB' : '5MB' }]);
  }
});

test('a server older than PostgreSQL 15 is rejected with a message, newer ones are accepted', () => {
  for (const [version, name] of [
    [140_023, '14.23'],
    [130_000, '13.0'],
  ] as const)
    assert.throws(() => requireServerVersion('db.test/mail', version), {
      name: 'OperatorError',
      message: `The database at db.test/mail is PostgreSQL ${name}; Signalpost needs PostgreSQL 15 or later.`,
    });
  for (const version of [150_000, 150_017, 180_004]) requireServerVersion('db.test/mail', version);
});

for (const way of ['the pool', 'the query builder'] as const) {
  test(`a statement of ${way} times out if the server is silent, and the next one gets a new connection`, async () => {
    const gate = await openGate(url);
    const database = openDatabase(
      { url: gate.url },
      { maxConnections: 1, statementTimeoutMs: 300 },
    );
    const ask = () =>
      way === 'the pool'
        ? database.pool.query('select 1 as one')
        : sql<{ one: number }>`select 1 as one`.execute(database.kysely);
    await ask();
    gate.hold();
    await assert.rejects(ask(), isUnavailable);
    gate.open();
    assert.deepEqual((await ask()).rows, [{ one: 1 }]);
    await database.close();
  });
}

test('a finished statement releases its parameters, on success and on error', async (t) => {
  const database = openDatabase({ url });
  const submit = t.mock.method(pg.Query.prototype, 'submit');
  const statements = () => submit.mock.calls.map((call) => call.this as { values?: unknown[] });
  await database.pool.query('select $1::text', ['answered']);
  await sql`select ${'answered'}::text`.execute(database.kysely);
  await assert.rejects(database.pool.query('select $1::uuid', ['refused']), { code: '22P02' });
  await assert.rejects(sql`select ${'refused'}::uuid`.execute(database.kysely), { code: '22P02' });
  assert.equal(statements().length, 4);
  for (const { values } of statements()) assert.equal(values, undefined);
  await database.close();
});

test('the stack trace of a failed statement contains the caller', async () => {
  const database = openDatabase({ url });
  async function runInvalidStatement(): Promise<void> {
    const client = await database.pool.connect();
    try {
      await client.query('select 1 / 0');
    } finally {
      client.release();
    }
  }
  await assert.rejects(runInvalidStatement(), { stack: /runInvalidStatement/ });
  await database.close();
});

test('a follower’s statement is parsed once per connection, and a connection whose statement no longer fits is replaced', async () => {
  const { database } = await createTestDatabase();
  const { followKysely } = database;
  await sql`create table test_thing (name text)`.execute(database.kysely);
  const read = () => sql`select * from test_thing where name <> ${'none'}`.execute(followKysely);
  await read();
  await followKysely.transaction().execute(async (transaction) => {
    await sql`select * from test_thing where name <> ${'none'}`.execute(transaction);
    const { rows } = await sql<{ statement: string; calls: number }>`
      select statement, generic_plans::int as calls from pg_prepared_statements`.execute(
      transaction,
    );
    assert.deepEqual(rows, [{ statement: 'select * from test_thing where name <> $1', calls: 2 }]);
  });
  await sql`alter table test_thing add column size integer`.execute(database.kysely);
  await sql`insert into test_thing values ('one', 1)`.execute(database.kysely);
  await assert.rejects(read(), { code: '0A000' });
  await waitFor('another connection', async () => (await read().catch(() => undefined))?.rows);
  assert.deepEqual((await read()).rows, [{ name: 'one', size: 1 }]);
});
