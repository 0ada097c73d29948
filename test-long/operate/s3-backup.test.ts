import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { BackupScene, sendReceipt } from '../../test/support/backup-scene.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startSwift } from '../support/start-swift.ts';

const swift = await startSwift();
const scene = new BackupScene();
await scene.createKey();
Object.assign(scene.environment, {
  BACKUP_TO: `s3://${swift.bucket}/production`,
  BACKUP_EVERY: '1s',
  BACKUP_S3_ENDPOINT: swift.endpoint,
  BACKUP_S3_ACCESS_KEY: swift.accessKey,
  BACKUP_S3_SECRET_KEY: swift.secretKey,
});

test('a bucket that can’t be used is named with what to check', async () => {
  assert.match(
    await scene.fail('backup', 'list', 's3://missing-bucket'),
    /The bucket missing-bucket responds to GET with 404 NoSuchBucket\. Check BACKUP_S3_ENDPOINT/,
  );
});

test('a service backs up to S3, catches up after an outage that doctor reports, and is restored', async () => {
  const service = await scene.start();
  await waitFor('a base backup', () => existsSync(join(scene.dataDir, 'backup.base.json')));
  const metric = async (name: string): Promise<number> => {
    const { text } = await sendRequest(`${service.url}/metrics`);
    return Number(new RegExp(`^signalpost_backup_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  await swift.stop();
  const message = await sendReceipt(service, 'S-1');
  await waitFor('the failure in the metrics', async () => (await metric('failing')) === 1, 60_000);
  assert.ok((await metric('wal_waiting')) > 0);
  assert.match(await scene.fail('backup', 'list'), /can’t be reached/);
  assert.match(await scene.fail('doctor'), /^FAIL backup .* fails: .* can’t be reached/m);
  await swift.start();
  await waitFor('nothing to wait', async () => (await metric('wal_waiting')) === 0, 90_000);
  assert.equal(await metric('failing'), 0);
  service.running.child.kill('SIGKILL');
  await service.running.exit;
  await rm(scene.dataDir, { recursive: true, force: true, maxRetries: 20 });

  assert.match((await scene.run('backup', 'list')).out, /^2\d{7}T\d{6}Z-/m);
  await scene.run('backup', 'verify', '--identity', scene.identity);
  await scene.run('restore', '--identity', scene.identity);
  const again = await scene.start();
  await scene.run('queue', 'list', '1000', message);
  again.running.child.kill('SIGTERM');
  assert.equal(await again.running.exit, 0, again.running.output.stderr);
});
