import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requireMatchingKey } from '../../src/base/secrets/installation-store.ts';
import { loadMasterKey } from '../../src/base/secrets/load-master-key.ts';
import { MasterKey } from '../../src/base/secrets/master-key.ts';
import { OperatorError } from '../../src/base/values/errors.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createTestDatabase } from '../support/test-database.ts';

const source = (dataDir: string) => ({ key: undefined, previousKey: undefined, dataDir });

test('concurrent first starts end up with the same key', async () => {
  const folder = temporaryFolder();
  const keys = await Promise.all([1, 2, 3, 4].map(() => loadMasterKey(source(folder))));
  assert.equal(new Set(keys.map((key) => key.fingerprint)).size, 1);
  const file = join(folder, 'signalpost.key');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(Buffer.from(readFileSync(file, 'utf8'), 'base64').length, 32);
});

test('the first key file also creates the data folder, unreadable to others', async () => {
  const folder = join(temporaryFolder(), 'srv', 'data');
  const made = await loadMasterKey(source(folder));
  assert.equal(statSync(folder).mode & 0o066, 0);
  assert.equal((await loadMasterKey(source(folder))).fingerprint, made.fingerprint);
});

test('a data folder that can’t be created is reported with a message', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await assert.rejects(loadMasterKey(source(join(file, 'data'))), {
    name: 'OperatorError',
    message: /Can’t (?:write|read) the key file .*signalpost\.(?:next\.)?key \(ENOTDIR\)/,
  });
});

test('a damaged key file is rejected with a message', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'signalpost.key'), 'c2hvcnQ=');
  await assert.rejects(loadMasterKey(source(folder)), OperatorError);
});

test('keys of different purposes and the fingerprint all differ', () => {
  const key = new MasterKey(Buffer.alloc(32, 7));
  const derived = (purpose: string) => key.derive(purpose).export().toString('base64url');
  assert.notEqual(derived('a'), derived('b'));
  assert.equal(derived('a'), derived('a'));
  assert.notEqual(key.fingerprint, derived('a').slice(0, 22));
});

test('a node with a different key than the database is rejected', async () => {
  const { database } = await createTestDatabase();
  const [first, second] = [new MasterKey(Buffer.alloc(32, 1)), new MasterKey(Buffer.alloc(32, 2))];
  await requireMatchingKey(database, first);
  await requireMatchingKey(database, first);
  await assert.rejects(requireMatchingKey(database, second), /set up with another key/);
});
