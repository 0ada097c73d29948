import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderProblem, openDataFolder } from '../../src/host/embedded-database/data-folder.ts';
import {
  embeddedTestFolder,
  isRoot,
  queryEmbedded,
  startEmbedded,
} from '../../test/support/embedded-scene.ts';

const posix = { skip: process.platform === 'win32' };

function operatorError(message: RegExp) {
  return { name: 'OperatorError', message };
}

test(
  'a new data folder is private; if root creates it, others can only traverse it',
  posix,
  async () => {
    const parent = await embeddedTestFolder();
    const umask = process.umask(0o077);
    const folder = openDataFolder(join(parent, 'a', 'b'));
    process.umask(umask);
    const expected = isRoot ? 0o711 : 0o700;
    assert.equal((await stat(folder.path)).mode & 0o777, expected);
    assert.equal((await stat(join(parent, 'a'))).mode & 0o777, expected);
    assert.deepEqual(await readdir(folder.path), []);
  },
);

test('a data folder may be a symbolic link', posix, async () => {
  const parent = await embeddedTestFolder();
  await mkdir(join(parent, 'real'));
  await symlink(join(parent, 'real'), join(parent, 'link'));
  const database = await startEmbedded(join(parent, 'link'));
  assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
  await assert.rejects(
    startEmbedded(join(parent, 'real')),
    operatorError(/^Another Signalpost .* is already running on/),
  );
  await database.stop();
});

test('a file in place of the data folder is reported', posix, async () => {
  const parent = await embeddedTestFolder();
  const file = join(parent, 'file');
  await writeFile(file, '');
  await assert.rejects(startEmbedded(file), operatorError(/file is not a folder\. Set DATA_DIR/));
  await assert.rejects(startEmbedded(join(file, 'below')), operatorError(/file is not a folder/));
  await symlink(join(parent, 'nowhere'), join(parent, 'link'));
  await assert.rejects(startEmbedded(join(parent, 'link')), operatorError(/can’t be created/));
});

test("a data folder that can't be created or written gives a clear message", {
  skip: process.platform !== 'linux',
}, async () => {
  await assert.rejects(
    startEmbedded('/sys/signalpost'),
    operatorError(/^DATA_DIR \/sys\/signalpost can’t be read and written by this user\. [^.]*\.$/),
  );
  await assert.rejects(startEmbedded('/proc/signalpost'), operatorError(/can’t be created/));
});

test('a data folder without write permission gives a clear message', {
  skip: isRoot || process.platform === 'win32',
}, async () => {
  const parent = await embeddedTestFolder();
  for (const mode of [0o500, 0o300, 0o600]) {
    const dataDir = join(parent, mode.toString(8));
    await mkdir(dataDir);
    await chmod(dataDir, mode);
    await assert.rejects(startEmbedded(dataDir), operatorError(/can’t be read and written/));
    await chmod(dataDir, 0o700);
  }
});

test('a read-only file system and a full disk are distinguished from missing permissions', () => {
  const problem = (code: string) =>
    folderProblem(Object.assign(new Error(code), { code }), '/d')?.message ?? '';
  assert.match(problem('EROFS'), /read-only/);
  assert.match(problem('ENOSPC'), /^The disk of DATA_DIR \/d is full\./);
  assert.match(problem('EDQUOT'), /full/);
  assert.equal(folderProblem(new Error('something else'), '/d'), undefined);
});

test('a disk that fills up while the database is created gives a clear message', {
  skip: !(isRoot && process.platform === 'linux') && 'needs a small disk, which root can mount',
}, async (t) => {
  const disk = await embeddedTestFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=711', 'tmpfs', disk]);
  } catch {
    t.skip('this root may not mount');
    return;
  }
  try {
    const full = operatorError(/^The disk of DATA_DIR .* is full\. Free some space/);
    await assert.rejects(startEmbedded(disk), full);
    assert.deepEqual(
      (await readdir(disk)).filter((name) => name.startsWith('database')),
      [],
    );
    const filler = join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(16 * 1024 * 1024)).catch(() => undefined);
    await assert.rejects(startEmbedded(disk), full);
  } finally {
    execFileSync('umount', [disk]);
  }
});
