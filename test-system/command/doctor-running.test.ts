import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { runInProcess } from '../../test/support/run-command.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';

const dataDir = copyDataFolder('started');
const environment = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };

async function doctor(settings: Record<string, string>): Promise<{ code: number; said: string }> {
  const { code, out, err } = await runInProcess(['doctor'], settings);
  return { code, said: out + err };
}

test('doctor reports no problems for a running service', async () => {
  const service = runSignalpost(['start'], environment);
  await service.printed(/Service\s+http/);
  const { code, said } = await doctor(environment);
  assert.match(said, /^ok {3}database .* responds and is up to date$/m);
  assert.match(said, /^ok {3}server {4}keeps what it confirms$/m);
  assert.match(said, /^ok {3}key /m);
  assert.match(said, /^ok {3}clock {5}within 0\.\d s of the database’s$/m);
  assert.equal(code, 0);
  service.child.kill('SIGTERM');
  await service.exit;
});

test('doctor reports that no service is running, and starts none', async () => {
  const { code, said } = await doctor(environment);
  assert.match(said, /^ok {3}database {2}embedded, not running/m);
  assert.equal(code, 0);
});

test('doctor finds a key that others can read and says how to fix it', async () => {
  const file = join(dataDir, 'signalpost.key');
  chmodSync(file, 0o644);
  const { code, said } = await doctor(environment);
  assert.match(said, /^FAIL key .* can be read by others\n\s+Run: chmod 600 /m);
  assert.equal(code, 1);
  chmodSync(file, 0o600);
});
