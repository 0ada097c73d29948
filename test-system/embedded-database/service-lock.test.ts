import assert from 'node:assert/strict';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDataFolder } from '../../src/host/embedded-database/data-folder.ts';
import { ADMIN_ROLE, SERVICE_ROLE } from '../../src/host/embedded-database/database-password.ts';
import { findRunningEmbedded } from '../../src/host/embedded-database/find-running-embedded.ts';
import { lockDataFolder } from '../../src/host/embedded-database/service-lock.ts';
import {
  embeddedTestFolder,
  initializedFolder,
  queryEmbedded,
  startDatabaseOwner,
  startEmbedded,
} from '../../test/support/embedded-scene.ts';

test('a second service on a data folder stops with a message that names the first', async () => {
  const dataDir = await initializedFolder();
  const database = await startEmbedded(dataDir);
  const sentence = `Another Signalpost (process ${process.pid}) is already running on ${dataDir}. Stop it, or set DATA_DIR to another folder.`;
  await assert.rejects(startEmbedded(dataDir), { name: 'OperatorError', message: sentence });
  assert.equal((await startDatabaseOwner(dataDir).firstLine).problem, sentence);
  assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
  await database.stop();
});

test('of many services started at once on one new data folder, one wins', async () => {
  const dataDir = await embeddedTestFolder();
  const owners = Array.from({ length: 4 }, () => startDatabaseOwner(dataDir));
  const firstLines = await Promise.all(owners.map((owner) => owner.firstLine));
  assert.equal(firstLines.filter(({ settings }) => settings).length, 1);
  for (const { problem } of firstLines) {
    if (problem) assert.match(problem, /^Another Signalpost \(process \d+\) is already running/);
  }
});

test('the lock ends with the process that holds it, however it ends', async () => {
  const dataDir = await initializedFolder();
  const owner = startDatabaseOwner(dataDir);
  await owner.firstLine;
  await owner.kill();
  await (await startEmbedded(dataDir)).stop();
});

test('a service publishes its URL in its data folder', async () => {
  const dataDir = await initializedFolder();
  const database = await startEmbedded(dataDir);
  database.announce('http://127.0.0.1:3000');
  const note = JSON.parse(await readFile(join(dataDir, 'service.json'), 'utf8'));
  assert.equal(note.pid, process.pid);
  assert.equal(note.url, 'http://127.0.0.1:3000');
  await database.stop();
  await assert.rejects(stat(join(dataDir, 'service.json')), { code: 'ENOENT' });
});

test('another process finds the database of a service that is still starting', async () => {
  const dataDir = await initializedFolder();
  const starting = startEmbedded(dataDir);
  const settings = await findRunningEmbedded(dataDir);
  assert(settings);
  assert.equal(await queryEmbedded(settings, 'select 1'), 1);
  assert.deepEqual(settings, (await starting).settings);
  await (await starting).stop();
});

test('a running release before 0.2.0, which uses the superuser, is found', async () => {
  const dataDir = await initializedFolder();
  const database = await startEmbedded(dataDir);
  const note = join(dataDir, 'database.json');
  const { user, ...rest } = JSON.parse(await readFile(note, 'utf8'));
  assert.equal(user, SERVICE_ROLE);
  await writeFile(note, JSON.stringify({ ...rest, user: ADMIN_ROLE }));
  await rm(join(dataDir, 'database.service.password'));
  const settings = await findRunningEmbedded(dataDir);
  assert(settings);
  assert.equal(await queryEmbedded(settings, 'select current_user::text'), ADMIN_ROLE);
  await database.stop();
});

test('if no service is running, none is found', async () => {
  const dataDir = await embeddedTestFolder();
  assert.equal(await findRunningEmbedded(join(dataDir, 'nowhere')), undefined);
  assert.equal(await findRunningEmbedded(dataDir), undefined);
  const owner = startDatabaseOwner(dataDir);
  await owner.firstLine;
  assert(await findRunningEmbedded(dataDir));
  await owner.kill();
  assert.equal(await findRunningEmbedded(dataDir), undefined);
  await (await startEmbedded(dataDir)).stop();
});

test("a service whose database doesn't respond is distinguished from none", async () => {
  const dataDir = await embeddedTestFolder();
  const lock = lockDataFolder(openDataFolder(dataDir));
  await assert.rejects(findRunningEmbedded(dataDir, 100), {
    name: 'OperatorError',
    message: new RegExp(`service on ${dataDir} \\(process ${process.pid}\\) has not responded`),
  });
  lock.release();
});
