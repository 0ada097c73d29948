import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { BackupScene, sendReceipt } from '../../test/support/backup-scene.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const scene = new BackupScene();
await scene.createKey();
Object.assign(scene.environment, { BACKUP_TO: scene.target, BACKUP_EVERY: '1s' });
const keyFile = join(scene.dataDir, 'signalpost.key');

function walCount(): number {
  const folder = join(scene.target, 'wal', '00000001');
  return existsSync(folder) ? readdirSync(folder).length : 0;
}

test('a restore finds the master key of its time, before and after a rotation', async () => {
  const service = await scene.start();
  await waitFor('a base backup', () => existsSync(join(scene.dataDir, 'backup.base.json')));
  const before = readFileSync(keyFile, 'utf8');
  const time = new Date().toISOString();
  await scene.run('key', 'rotate-master');
  const after = readFileSync(keyFile, 'utf8');
  assert.notEqual(after, before);
  // The segment of the rotation, and the one of this message.
  for (const order of ['K-1', 'K-2']) {
    const stored = walCount();
    await sendReceipt(service, order);
    await waitFor('the next WAL file', () => walCount() > stored);
  }
  // Nothing but manifests is in plain text.
  for (const name of readdirSync(scene.target, { recursive: true, encoding: 'utf8' })) {
    const header = /part-000001$|\.age$/.test(name) ? readFileSync(join(scene.target, name)) : null;
    if (header !== null)
      assert.match(header.toString('latin1'), /^age-encryption\.org\/v1\n/, name);
  }
  service.running.child.kill('SIGKILL');
  await service.running.exit;

  for (const { args, key } of [
    { args: ['--to', time], key: before },
    { args: [], key: after },
    // Nothing was changed after the last message, so this is everything.
    { args: ['--to', new Date().toISOString()], key: after },
  ]) {
    await rm(scene.dataDir, { recursive: true, force: true, maxRetries: 20 });
    await scene.run('restore', '--identity', scene.identity, ...args);
    assert.equal(readFileSync(keyFile, 'utf8'), key);
  }
  const again = await scene.start();
  again.running.child.kill('SIGTERM');
  assert.equal(await again.running.exit, 0, again.running.output.stderr);
});
