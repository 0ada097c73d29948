import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { findRunningAdmin } from '../../src/host/embedded-database/find-running-embedded.ts';
import { BackupScene, sendReceipt } from '../../test/support/backup-scene.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const scene = new BackupScene();
await scene.createKey();

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

test('queued messages can be sent again or canceled instead', async () => {
  const service = await scene.start();
  const message = await sendReceipt(service, 'A-4');
  await scene.run('backup', scene.target);
  await scene.lose(service);
  await scene.run('restore', scene.target, '--identity', scene.identity, '--queue', 'resend');
  const resending = await scene.start();
  assert.notEqual((await scene.statusOf(message)).nextAttemptAt, null);
  await scene.lose(resending);
  await scene.run('restore', scene.target, '--identity', scene.identity, '--queue', 'drop');
  const dropping = await scene.start();
  await waitFor(
    'the cancellation',
    async () => (await scene.statusOf(message)).state === 'canceled',
  );
  await scene.lose(dropping);
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
  await scene.lose(service);

  const verified = await scene.run('backup', 'verify', '--identity', scene.identity);
  assert.match(verified.out, /can be restored, with all changes until .* and the key fits/);

  await scene.run('restore', '--identity', scene.identity, '--to', between);
  const earlier = await scene.start();
  await scene.statusOf(first);
  assert.match(await scene.fail('queue', 'list', '1000', second), /not found/);
  await scene.lose(earlier);

  // The service above may have begun a timeline of its own; the rest of the former one is another history.
  await scene.run('restore', '--identity', scene.identity);
  const latest = await scene.start();
  await scene.statusOf(first);
  await scene.lose(latest);
});
