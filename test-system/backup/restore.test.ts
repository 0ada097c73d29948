import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BackupScene, sendReceipt } from '../../test/support/backup-scene.ts';
import { sendRequest } from '../../test/support/send-request.ts';

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

test('neither a backup nor what it restores has the target of a guarded link in clear', async () => {
  const service = await scene.start();
  const values = {
    'First Name': 'Plain-Name-of-Reader',
    'Reset Link': 'https://shop.test/reset/Target-of-Reader',
  };
  const { status, text } = await sendRequest(`${service.url}/ete/v1/email/1000/password-reset`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      envelope: { toAddress: 'ada@customer.example' },
      content: { personalizationDataMap: values },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  assert.equal(status, 200, text);
  await scene.run('backup', scene.target);
  await scene.lose(service);
  await scene.run('restore', scene.target, '--identity', scene.identity);
  const filesWith = (folder: string, needle: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => readFileSync(file).includes(needle));
  assert.notDeepEqual(filesWith(scene.dataDir, 'Plain-Name-of-Reader'), []);
  for (const folder of [scene.dataDir, scene.target])
    for (const needle of ['Target-of-Reader', Buffer.from('Target-of-Reader').toString('hex')])
      assert.deepEqual(filesWith(folder, needle), []);
  assert.deepEqual(filesWith(scene.target, 'Plain-Name-of-Reader'), []);
});
