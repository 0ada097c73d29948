import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BackupScene, sendReceipt } from '../../test/support/backup-scene.ts';

const scene = new BackupScene();
await scene.createKey();

test('the private key stays outside the data folder, and is not overwritten', async () => {
  assert.equal(statSync(scene.identity).mode & 0o777, 0o600);
  assert.match(await scene.fail('backup', 'create-key', scene.identity), /already exists/);
  const inside = join(scene.dataDir, 'identity.txt');
  assert.match(await scene.fail('backup', 'create-key', inside), /would be lost with DATA_DIR/);
});

test('a restored backup of a running service has its messages and key, and holds queued messages', async () => {
  const service = await scene.start();
  const before = await sendReceipt(service, 'A-1');
  const { out } = await scene.run('backup', scene.target);
  assert.match(out, /^Backed up to .* encrypted for age1/);
  const after = await sendReceipt(service, 'A-2');
  const key = readFileSync(join(scene.dataDir, 'signalpost.key'), 'utf8');
  await scene.lose(service);

  const restored = await scene.run('restore', scene.target, '--identity', scene.identity);
  assert.match(restored.out, /Messages accepted after \S+Z are gone, at most until \S+Z/);
  assert.match(restored.out, /signalpost queue retry 1000 .* 1 held/);
  assert.equal(readFileSync(join(scene.dataDir, 'signalpost.key'), 'utf8'), key);

  const again = await scene.start();
  const held = await scene.statusOf(before);
  assert.equal(held.state, 'uncertain');
  assert.equal(held.nextAttemptAt, null);
  assert.match(String(held.reason), /restored from a backup/);
  assert.match(await scene.fail('queue', 'list', '1000', after), /not found/);
  const later = await sendReceipt(again, 'A-3');
  await scene.run('queue', 'retry', '1000');
  assert.notEqual((await scene.statusOf(before)).nextAttemptAt, null, 'released by one command');
  assert.notEqual((await scene.statusOf(later)).state, 'uncertain', 'new mail is not held');
  await scene.lose(again);
});

test('a data folder that is not empty, a wrong key and a damaged part are refused', async () => {
  const [base = ''] = readdirSync(join(scene.target, 'base')).sort().slice(-1);
  const other = join(scene.folder, 'other.txt');
  await scene.run('backup', 'create-key', other);
  assert.match(
    await scene.fail('restore', scene.target, '--identity', other),
    /encrypted for another key/,
  );
  const part = join(scene.target, 'base', base, 'part-000001');
  const content = readFileSync(part);
  const damaged = Buffer.from(content);
  damaged[1_000] = (damaged[1_000] ?? 0) ^ 1;
  writeFileSync(part, damaged);
  assert.match(
    await scene.fail('restore', scene.target, '--identity', scene.identity),
    /checksum is wrong/,
  );
  assert.match(await scene.fail('start'), /A restore into .* didn’t finish/);
  writeFileSync(part, content);
  await scene.run('restore', scene.target, '--identity', scene.identity);
  assert.match(
    await scene.fail('restore', scene.target, '--identity', scene.identity),
    /isn’t empty/,
  );
});
