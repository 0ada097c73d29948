import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { programOptions } from '../../src/host/embedded-database/postgres-program.ts';
import {
  embeddedTestFolder,
  initializedFolder,
  queryEmbedded,
  startDatabaseOwner,
  startEmbedded,
} from '../../test/support/embedded-scene.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const posix = { skip: process.platform === 'win32' };

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A data folder with a table, and the process that owns it. */
async function ownedFolder() {
  const dataDir = await initializedFolder();
  const owner = startDatabaseOwner(dataDir);
  const { settings, databasePid, problem } = await owner.firstLine;
  if (!settings || !databasePid) throw new Error(problem);
  await queryEmbedded(settings, 'create table kept as select 42 as answer');
  return { dataDir, owner, settings, databasePid };
}

test('a database whose service was killed is replaced at once', async () => {
  const { dataDir, owner, databasePid } = await ownedFolder();
  await owner.kill();
  assert(lives(databasePid));
  const begun = performance.now();
  const database = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(database.settings, 'select answer from kept'), 42);
  // If it ignored the graceful stop, the next step would come only after 15 seconds.
  assert(performance.now() - begun < 14_000);
  await waitFor('the end of the old one', () => !lives(databasePid));
  await database.stop();
});

test('a database that still runs on a removed folder of the same name is stopped', {
  skip: process.platform !== 'linux',
}, async () => {
  const { dataDir, owner, databasePid } = await ownedFolder();
  await owner.kill();
  await rm(join(dataDir, 'database'), { recursive: true, force: true, maxRetries: 20 });
  const database = await startEmbedded(dataDir);
  await waitFor('the end of the former database', () => !lives(databasePid));
  await database.stop();
});

test('a service that crashes takes its database down with it', posix, async () => {
  const { owner, databasePid } = await ownedFolder();
  owner.process.kill('SIGUSR2');
  await owner.exited;
  await waitFor('the end of the database', () => !lives(databasePid));
});

test('if service and database are killed together, the next start works', async () => {
  const { dataDir, owner, databasePid } = await ownedFolder();
  await owner.kill();
  process.kill(databasePid, 'SIGKILL');
  const database = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(database.settings, 'select answer from kept'), 42);
  await database.stop();
});

test('a statement that outlives a killed database is terminated', posix, async () => {
  const { dataDir, owner, settings, databasePid } = await ownedFolder();
  const endless = 'select count(*) from generate_series(1, 1e12)';
  queryEmbedded({ ...settings }, endless).catch(() => undefined);
  const busy =
    "select pid from pg_stat_activity where query like '%1e12%' and pid <> pg_backend_pid()";
  const backend = Number(
    await waitFor('the statement', () => queryEmbedded(settings, busy) as Promise<number>),
  );
  await owner.kill();
  process.kill(databasePid, 'SIGKILL');
  const database = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(database.settings, 'select answer from kept'), 42);
  await waitFor('the end of the statement', () => !lives(backend));
  await database.stop();
});

test('a stale process id that now belongs to another process is ignored', posix, async () => {
  const dataDir = await initializedFolder();
  const cluster = join(dataDir, 'database');
  // Owned by PostgreSQL's user, so that PostgreSQL alone would take it for a running server.
  const { uid, gid } = await stat(cluster);
  const stranger = spawn('sleep', ['600'], { ...programOptions({ uid, gid }), stdio: 'ignore' });
  await once(stranger, 'spawn');
  after(() => stranger.kill());
  const socket = join(dataDir, 'run', '.s.PGSQL.5432');
  const stale = `${stranger.pid}\n${cluster}\n1700000000\n5432\n${join(dataDir, 'run')}\n\n  0 0\nready   \n`;
  await writeFile(join(cluster, 'postmaster.pid'), stale, { mode: 0o600 });
  await writeFile(`${socket}.lock`, stale, { mode: 0o600 });
  await writeFile(socket, '');
  const database = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
  assert(stranger.pid && lives(stranger.pid));
  await database.stop();
});

test('a process id in the pid file that belongs to this very process is ignored', async () => {
  const dataDir = await initializedFolder();
  await writeFile(join(dataDir, 'database', 'postmaster.pid'), `${process.pid}\n`);
  const database = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
  await database.stop();
});

test('a first start that is killed midway leaves nothing incomplete', async () => {
  const dataDir = await embeddedTestFolder();
  const owner = startDatabaseOwner(dataDir);
  await waitFor('the database being made', async () =>
    (await readdir(dataDir)).some((name) => name.includes('unfinished')),
  );
  await owner.kill();
  assert(!(await readdir(dataDir)).includes('database'));
  const database = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(database.settings, 'select 1'), 1);
  await database.stop();
  const left = (await readdir(dataDir)).filter((name) => name.includes('unfinished'));
  assert.deepEqual(left, []);
});
