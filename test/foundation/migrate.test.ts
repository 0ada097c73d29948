import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSchemaCurrent, migrate, readMigrations } from '../../src/foundation/database/migrate.ts';
import { openDatabase } from '../../src/foundation/database/open-database.ts';
import { OperatorError } from '../../src/foundation/errors.ts';
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

test('an edited migration is rejected with its file name', async () => {
  await database.pool.query("update schema_migration set sha256 = 'other' where version = 1");
  await assert.rejects(migrate(database), /migrations\/0001-foundation\.sql differs/);
});
