import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { OperatorError } from '../../src/base/values/errors.ts';
import {
  embeddedTestFolder,
  initializedFolder,
  queryEmbedded,
  startEmbedded,
} from '../../test/support/embedded-scene.ts';

const posix = { skip: process.platform === 'win32' };

test('a first start creates a working database with fsync and checksums', async () => {
  const dataDir = join(await embeddedTestFolder(), 'not', 'yet', 'there');
  const database = await startEmbedded(dataDir, { durable: true });
  const setting = (name: string) => queryEmbedded(database.settings, `show ${name}`);
  assert.equal(await setting('server_encoding'), 'UTF8');
  assert.equal(await setting('data_checksums'), 'on');
  assert.equal(await setting('fsync'), 'on');
  assert.equal(await setting('synchronous_commit'), 'on');
  assert.equal(await setting('full_page_writes'), 'on');
  assert.equal(await setting('timezone'), 'UTC');
  assert.equal(await queryEmbedded(database.settings, "select upper('ñandú é')"), 'ÑANDÚ É');
  await database.stop();
});

test('a second start finds everything unchanged, with the same password', async () => {
  const dataDir = await embeddedTestFolder();
  const first = await startEmbedded(dataDir);
  await queryEmbedded(first.settings, 'create table kept as select 42 as answer');
  await first.stop();
  const second = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(second.settings, 'select answer from kept'), 42);
  assert.equal(second.settings.password, first.settings.password);
  await second.stop();
});

test('the database requires a password and is not reachable from the network', posix, async () => {
  const database = await startEmbedded(await initializedFolder());
  assert.match(database.settings.password, /^[\w-]{43}$/);
  await assert.rejects(queryEmbedded({ ...database.settings, password: 'wrong' }, 'select 1'), {
    code: '28P01',
  });
  assert.equal(await queryEmbedded(database.settings, 'show listen_addresses'), '');
  assert.equal((await stat(database.settings.host)).mode & 0o777, 0o700);
  await database.stop();
});

test('no file of a running data folder is accessible to others', posix, async () => {
  const dataDir = await initializedFolder();
  const database = await startEmbedded(dataDir);
  for (const name of await readdir(dataDir)) {
    const { mode } = await stat(join(dataDir, name));
    assert.equal(mode & 0o077, 0, `${name} has mode ${mode.toString(8)}`);
  }
  await database.stop();
});

test('a data folder may have any name', posix, async () => {
  const dataDir = join(await embeddedTestFolder(), `Jürgen's "data", 100% \\ new`);
  const database = await startEmbedded(dataDir);
  assert.equal(database.settings.host, join(dataDir, 'run'));
  assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
  await database.stop();
});

test(
  'if the path is too long for a socket, the socket is in a private temporary folder',
  posix,
  async () => {
    const dataDir = join(await embeddedTestFolder(), 'x'.repeat(60), 'y'.repeat(60));
    const database = await startEmbedded(dataDir);
    assert.equal((await stat(database.settings.host)).mode & 0o777, 0o700);
    assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
    await database.stop();
    await assert.rejects(stat(database.settings.host), { code: 'ENOENT' });
  },
);

test('an aborted start cleans up, and the next one works', async () => {
  const dataDir = await embeddedTestFolder();
  for (const milliseconds of [0, 60, 120, 240, 480]) {
    const signal = AbortSignal.timeout(milliseconds);
    const started = startEmbedded(dataDir, { signal });
    await started.then(
      (database) => database.stop(),
      (error) => assert.equal(error, signal.reason),
    );
  }
  const database = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
  await database.stop();
  const left = (await readdir(dataDir)).filter((name) => name.includes('unfinished'));
  assert.deepEqual(left, []);
});

for (const [what, lose] of [
  ['lost', rm],
  ['emptied', (file: string) => writeFile(file, '')],
] as const)
  for (const [file, kind] of [
    ['database.password', 'admin'],
    ['database.service.password', 'settings'],
  ] as const)
    test(`a file ${file} that was ${what} is recreated`, async () => {
      const dataDir = await initializedFolder();
      const first = await startEmbedded(dataDir);
      await first.stop();
      await lose(join(dataDir, file));
      const second = await startEmbedded(dataDir);
      assert.notEqual(second[kind].password, first[kind].password);
      assert.equal(await queryEmbedded(second[kind], 'select 1'), 1);
      await second.stop();
    });

test('a database of another major version is rejected with instructions', async () => {
  const dataDir = await initializedFolder();
  const version = join(dataDir, 'database', 'PG_VERSION');
  const own = (await readFile(version, 'utf8')).trim();
  await writeFile(version, '15\n');
  await assert.rejects(startEmbedded(dataDir), (error) => {
    assert(error instanceof OperatorError);
    assert.match(error.message, new RegExp(`PostgreSQL 15, .* comes with PostgreSQL ${own}\\.`));
    return true;
  });
});

test('a folder in place of the database that contains something else is left alone', async () => {
  const dataDir = await embeddedTestFolder();
  await mkdir(join(dataDir, 'database'));
  await writeFile(join(dataDir, 'database', 'thesis.txt'), 'precious');
  await assert.rejects(startEmbedded(dataDir), {
    name: 'OperatorError',
    message: /isn’t empty but contains no database/,
  });
  assert.equal(await readFile(join(dataDir, 'database', 'thesis.txt'), 'utf8'), 'precious');
});

test('a database that fails to start gives the reason in one sentence', async () => {
  const dataDir = await initializedFolder();
  await rm(join(dataDir, 'database', 'global', 'pg_control'));
  await assert.rejects(startEmbedded(dataDir), {
    name: 'OperatorError',
    message: /does not start: .*pg_control/,
  });
});
