import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { runAdminStatement, withDatabase } from '../../scripts/scratch-database.ts';
import { findDatabaseProblems } from '../../src/base/database/find-database-problems.ts';
import { isSchemaCurrent, migrate, prepareSchema } from '../../src/base/database/migrate.ts';
import { type Database, openDatabase } from '../../src/base/database/open-database.ts';
import { adminUrl } from '../support/test-database.ts';

/** A database of the administrator, who lets a role connect and no more. */
async function openForeignDatabase(
  options = '',
): Promise<{ readonly name: string; readonly admin: string; readonly database: Database }> {
  const name = `foreign_${randomBytes(6).toString('hex')}`;
  await runAdminStatement(adminUrl(), `create database ${name} ${options}`);
  await runAdminStatement(adminUrl(), `create role ${name} login password 'secret'`);
  const admin = withDatabase(adminUrl(), name);
  const url = new URL(admin);
  url.username = name;
  url.password = 'secret';
  const database = openDatabase({ url: url.href });
  after(async () => {
    await database.close();
    for (const dropped of [name, `${name}_utf8`])
      await runAdminStatement(adminUrl(), `drop database if exists ${dropped} with (force)`);
    await runAdminStatement(adminUrl(), `drop role ${name}`);
  });
  return { name, admin, database };
}

/** The statement with which a migration that fails says it would work. */
async function failAndAdvise(database: Database, message: RegExp): Promise<string> {
  const error = await migrate(database).then(
    () => assert.fail('the migration succeeded'),
    (reason: Error) => reason,
  );
  assert.equal(error.name, 'OperatorError', String(error.stack));
  assert.match(error.message, message);
  const [, statement = ''] = /: ((?:grant|create) .*;)$/.exec(error.message) ?? [];
  return statement;
}

const schemasWithTables = async ({ pool }: Database): Promise<string[]> => {
  const { rows } = await pool.query<{ schema: string }>(
    `select distinct relnamespace::regnamespace::text as schema from pg_class
     where relkind in ('r', 'p') and relnamespace::regnamespace::text not like all ('{pg\\_%,information_schema}')`,
  );
  return rows.map(({ schema }) => schema);
};

test('a role without CREATE gets the statement that it needs, and then a schema of its own', async () => {
  const { admin, database } = await openForeignDatabase();
  await runAdminStatement(admin, await failAndAdvise(database, /can’t create schemas/));
  await migrate(database);
  assert.equal(await isSchemaCurrent(database), true);
  assert.deepEqual(await schemasWithTables(database), ['signalpost']);
});

test('a prepared schema without CREATE gets the statement, too', async () => {
  const { admin, database } = await openForeignDatabase();
  await runAdminStatement(admin, 'create schema signalpost');
  const statement = await failAndAdvise(database, /can’t create tables in the schema signalpost/);
  await runAdminStatement(admin, statement);
  await migrate(database);
  assert.deepEqual(await schemasWithTables(database), ['signalpost']);
});

test('an installation that began in public stays there, whatever other schemas exist', async () => {
  const { admin } = await openForeignDatabase();
  const old = new URL(admin);
  old.searchParams.set('options', '-c search_path=public');
  const before = openDatabase({ url: old.href });
  await migrate(before);
  await before.pool.query('create schema signalpost');
  await before.close();
  const now = openDatabase({ url: admin });
  assert.deepEqual(await migrate(now), []);
  assert.equal(await isSchemaCurrent(now), true);
  const client = await now.pool.connect();
  await prepareSchema(client);
  await client.query('create table later (id int)');
  client.release();
  assert.deepEqual(await schemasWithTables(now), ['public']);
  await now.close();
});

test('a database that can’t store every text is rejected with the statement for another one', async () => {
  const { name, database } = await openForeignDatabase(
    "encoding 'SQL_ASCII' template template0 locale 'C'",
  );
  const statement = await failAndAdvise(database, /has the encoding SQL_ASCII/);
  const [problem] = await findDatabaseProblems(database.pool).then((all) =>
    all.filter(({ finding }) => finding.includes('encoding')),
  );
  assert.match(problem?.finding ?? '', /É@example\.com and é@example\.com count as different/);
  await runAdminStatement(adminUrl(), statement);
  const [, advised = ''] = /: (create database .*;)$/.exec(problem?.advice ?? '') ?? [];
  await runAdminStatement(adminUrl(), `drop database ${name}_utf8`);
  await runAdminStatement(adminUrl(), advised);
  const other = openDatabase({ url: withDatabase(adminUrl(), `${name}_utf8`) });
  const problems = await findDatabaseProblems(other.pool);
  await other.close();
  assert.doesNotMatch(JSON.stringify(problems), /encoding/);
});
