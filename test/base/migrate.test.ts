import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { isSchemaCurrent, migrate, readLatestMigration } from '../../src/base/database/migrate.ts';
import {
  type Migration,
  readMigrations,
  splitStatements,
} from '../../src/base/database/migration-files.ts';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { recordKeyNode, removeKeyNode } from '../../src/base/secrets/key-rotation-store.ts';
import { OperatorError } from '../../src/base/values/errors.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { database, url } = await createTestDatabase();

test('a migrated database needs nothing more', async () => {
  assert.equal(await isSchemaCurrent(database), true);
  assert.deepEqual(await migrate(database), []);
});

test('nodes that start concurrently apply each migration once', async () => {
  await database.pool.query('drop schema signalpost cascade');
  const nodes = [1, 2, 3, 4].map(() => openDatabase({ url }));
  try {
    const applied = await Promise.all(nodes.map((node) => migrate(node)));
    const names = (await readMigrations()).map((migration) => migration.name);
    assert.deepEqual(applied.flat(), names);
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
});

test('a database of a newer release is rejected with a message', async () => {
  await database.pool.query(
    "insert into schema_migration (version, name, sha256) values (9999, 'later', 'x')",
  );
  await assert.rejects(migrate(database), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /newer Signalpost/);
    return true;
  });
  await database.pool.query('delete from schema_migration where version = 9999');
});

/** A migration of a release to come. */
function laterMigration(name: string): Migration {
  const sql = `create table t_${name.replaceAll(/\W/g, '_')} (id integer)`;
  const [, version, after] = /^(\d{4})-(?:contract-after-(\d{4}))?/.exec(name) ?? [];
  return {
    version: Number(version),
    name,
    sql,
    sha256: name,
    contractsAfter: after === undefined ? undefined : Number(after),
  };
}

const latest = await readLatestMigration();
const padded = (version: number) => String(version).padStart(4, '0');

/** Records a migration that this release doesn't have. */
async function recordLater(name: string): Promise<void> {
  await database.pool.query('delete from schema_migration where version > $1', [latest]);
  await database.pool.query(
    'insert into schema_migration (version, name, sha256) values ($1, $2, $3)',
    [Number(name.slice(0, 4)), name, 'x'],
  );
}

test('this release runs on with the schema of a later one that only expands it', async () => {
  await recordLater('9001-more.sql');
  assert.equal(await isSchemaCurrent(database), true);
  assert.deepEqual(await migrate(database), []);
});

test('this release runs with a contracted schema as long as it has what the contraction needs', async () => {
  await recordLater(`9001-contract-after-${padded(latest)}-less.sql`);
  assert.equal(await isSchemaCurrent(database), true);
  assert.deepEqual(await migrate(database), []);
  await recordLater(`9001-contract-after-${padded(latest + 1)}-less.sql`);
  assert.equal(await isSchemaCurrent(database), false);
  await assert.rejects(migrate(database), /can’t run with its migration 9001/);
  await database.pool.query('delete from schema_migration where version > $1', [latest]);
});

test('a migration that contracts waits until no process of an older release runs', async () => {
  const known = await readMigrations();
  const expand = laterMigration('9001-more.sql');
  const contract = laterMigration('9002-contract-after-9001-less.sql');
  const all = [...known, expand, contract];
  const report = (node: string, release: number) =>
    recordKeyNode(database, node, { name: 'node', known: [], current: '' }, release);
  const [older, newer] = [randomUUID(), randomUUID()];
  await report(older, latest);
  await report(newer, 9001);
  assert.deepEqual(await migrate(database, all), [expand.name]);
  assert.deepEqual(await migrate(database, all), []);
  await removeKeyNode(database, older);
  assert.deepEqual(await migrate(database, all), [contract.name]);
  await database.pool.query('delete from schema_migration where version > $1', [latest]);
});

test('from 0.2.0 on, migrations that expand remove and rename nothing', async () => {
  const removing =
    /\b(?:drop (?:table|column|function|type|schema)|rename|set not null|alter (?:column )?\w+ type)\b/i;
  const wrong = (await readMigrations())
    .filter(({ version, contractsAfter }) => version > 69 && contractsAfter === undefined)
    .filter(({ sql }) => splitStatements(sql).some((statement) => removing.test(statement)));
  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  );
});

test('from 0075 on, migrations index tables that exist while rows are written', async () => {
  const wrong = (await readMigrations())
    .filter(({ version }) => version > 74)
    .flatMap(({ name, sql }) =>
      splitStatements(sql)
        .map((statement) =>
          /^create (?:unique )?index (?!concurrently).*? on (\w+)/i.exec(statement),
        )
        .filter((index) => index !== null && !sql.includes(`create table ${index[1]} (`))
        .map((index) => `${name}: ${index?.[0]}`),
    );
  assert.deepEqual(wrong, []);
});

test('an edited migration is rejected with its file name', async () => {
  await database.pool.query("update schema_migration set sha256 = 'other' where version = 1");
  await assert.rejects(migrate(database), /migrations\/0001-foundation\.sql differs/);
});
