import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const dataDir = copyDataFolder('started');

test('a command whose reader stops reading, as head does, ends without an error', async () => {
  const command = runSignalpost(['--help'], {});
  command.child.stdout?.destroy();
  assert.equal(await command.exit, 0);
  assert.equal(command.output.stderr, '');
});

test('a service whose output is no longer read keeps running', async () => {
  const service = runSignalpost(['start'], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' });
  service.child.stdout?.destroy();
  const readAddress = () => {
    assert.equal(service.child.exitCode, null, service.output.stderr);
    return addressIn(join(dataDir, 'service.json'));
  };
  // As long as what is printed is waited for.
  const url = await waitFor('its address', readAddress, 120_000);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  assert.doesNotMatch(service.output.stderr, /EPIPE/);
});

function addressIn(file: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly url?: string }).url;
  } catch {
    return undefined;
  }
}
