import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { findRunningAdmin } from '../../src/embedded-database/find-running-embedded.ts';
import { BackupScene, type ScenicService, sendReceipt } from '../support/backup-scene.ts';
import { sendRequest } from '../support/send-request.ts';
import { waitFor } from '../support/wait-for.ts';

const scene = new BackupScene();
await scene.createKey();

/** Kills the service and loses its disk. */
async function loseEverything({ running }: ScenicService): Promise<void> {
  running.child.kill('SIGKILL');
  await running.exit;
  await rm(scene.dataDir, { recursive: true, force: true, maxRetries: 20 });
}

async function stop({ running }: ScenicService): Promise<void> {
  running.child.kill('SIGTERM');
  assert.equal(await running.exit, 0, running.output.stderr);
}

async function statusOf(message: string): Promise<Record<string, unknown>> {
  return JSON.parse((await scene.run('queue', 'list', '1000', message, '--json')).stdout);
}

/** Waits until everything that was committed so far is in the archive. */
async function waitForArchive(): Promise<void> {
  const found = await findRunningAdmin(scene.dataDir);
  const client = new pg.Client(found?.admin);
  await client.connect();
  const { rows } = await client.query('select pg_walfile_name(pg_current_wal_lsn()) as name');
  await client.end();
  const folder = join(scene.target, 'wal', '00000001');
  await waitFor(
    `${rows[0].name} in the archive`,
    () => existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(rows[0].name)),
  );
}

test('the private key stays outside the data folder, and is not overwritten', async () => {
  assert.equal(statSync(scene.identity).mode & 0o777, 0o600);
  assert.match(await scene.fail('backup', 'create-key', scene.identity), /already exists/);
  const inside = join(scene.dataDir, 'identity.txt');
  assert.match(await scene.fail('backup', 'create-key', inside), /would be lost with DATA_DIR/);
});

test('a backup of a running service brings back messages and key, and holds what was queued', async () => {
  const service = await scene.start();
  const before = await sendReceipt(service, 'A-1');
  const { stdout } = await scene.run('backup', scene.target);
  assert.match(stdout, /^Backed up to .* encrypted for age1/);
  const after = await sendReceipt(service, 'A-2');
  const key = readFileSync(join(scene.dataDir, 'signalpost.key'), 'utf8');
  await loseEverything(service);

  const restored = await scene.run('restore', scene.target, '--identity', scene.identity);
  assert.match(restored.stdout, /Messages accepted after \S+Z are gone, at most until \S+Z/);
  assert.match(restored.stdout, /signalpost queue retry 1000 .* 1 held/);
  assert.equal(readFileSync(join(scene.dataDir, 'signalpost.key'), 'utf8'), key);

  const again = await scene.start();
  const held = await statusOf(before);
  assert.equal(held.state, 'uncertain');
  assert.equal(held.nextAttemptAt, null);
  assert.match(String(held.reason), /restored from a backup/);
  assert.match(await scene.fail('queue', 'list', '1000', after), /not found/);
  const later = await sendReceipt(again, 'A-3');
  await scene.run('queue', 'retry', '1000');
  assert.notEqual((await statusOf(before)).nextAttemptAt, null, 'released by one command');
  assert.notEqual((await statusOf(later)).state, 'uncertain', 'new mail is not held');
  await stop(again);
});

test('queued messages can be sent again or canceled instead', async () => {
  const service = await scene.start();
  const message = await sendReceipt(service, 'A-4');
  await scene.run('backup', scene.target);
  await loseEverything(service);
  await scene.run('restore', scene.target, '--identity', scene.identity, '--queue', 'resend');
  const resending = await scene.start();
  assert.notEqual((await statusOf(message)).nextAttemptAt, null);
  await loseEverything(resending);
  await scene.run('restore', scene.target, '--identity', scene.identity, '--queue', 'drop');
  const dropping = await scene.start();
  await waitFor('the cancellation', async () => (await statusOf(message)).state === 'canceled');
  await loseEverything(dropping);
});

test('with BACKUP_TO, a lost disk loses nothing that was archived, and any time can be restored', async () => {
  await rm(scene.target, { recursive: true, force: true });
  Object.assign(scene.environment, { BACKUP_TO: scene.target, BACKUP_EVERY: '1s' });
  const service = await scene.start();
  await waitFor('a base backup', () =>
    existsSync(join(scene.dataDir, 'backup.base.json')) ? true : undefined,
  );
  const first = await sendReceipt(service, 'B-1');
  await waitForArchive();
  const between = new Date().toISOString();
  const second = await sendReceipt(service, 'B-2');
  await waitForArchive();
  const metrics = (await sendRequest(`${service.url}/metrics`)).text;
  assert.match(metrics, /^signalpost_backup_failing 0$/m);
  assert.match(metrics, /^signalpost_backup_base_age_seconds \d/m);
  await loseEverything(service);

  const verified = await scene.run('backup', 'verify', '--identity', scene.identity);
  assert.match(verified.stdout, /can be restored, with all changes until .* and the key fits/);

  await scene.run('restore', '--identity', scene.identity, '--to', between);
  const earlier = await scene.start();
  await statusOf(first);
  assert.match(await scene.fail('queue', 'list', '1000', second), /not found/);
  await loseEverything(earlier);

  // The service above may have begun a timeline of its own; the rest of the former one is another history.
  await scene.run('restore', '--identity', scene.identity);
  const latest = await scene.start();
  await statusOf(first);
  await loseEverything(latest);
});

test('a data folder that is not empty, a wrong key and a damaged part are refused', async () => {
  const [base = ''] = readdirSync(join(scene.target, 'base')).sort().slice(-1);
  const other = join(scene.folder, 'other.txt');
  await scene.run('backup', 'create-key', other);
  assert.match(await scene.fail('restore', '--identity', other), /encrypted for another key/);
  const part = join(scene.target, 'base', base, 'part-000001');
  const content = readFileSync(part);
  const damaged = Buffer.from(content);
  damaged[1_000] = (damaged[1_000] ?? 0) ^ 1;
  writeFileSync(part, damaged);
  assert.match(await scene.fail('restore', '--identity', scene.identity), /checksum is wrong/);
  assert.match(await scene.fail('start'), /A restore into .* didn’t finish/);
  writeFileSync(part, content);
  await scene.run('restore', '--identity', scene.identity);
  assert.match(await scene.fail('restore', '--identity', scene.identity), /isn’t empty/);
});
