import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { getDemoToken } from '../../test/support/demo-token.ts';
import { runInProcess } from '../../test/support/run-command.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const folder = temporaryFolder();
const file = join(folder, 'shop.yaml');

const manifest = `
accounts:
  - id: shop
    name: Shop
    users:
      - { email: ann@shop.test, name: Ann, password: "\${ANN_PASSWORD}", role: owner }
    senders:
      - { address: orders@shop.test, verified: true }
`;
writeFileSync(file, manifest);

const dataDir = copyDataFolder('started');
const environment = { DATA_DIR: dataDir, PORT: '0', ANN_PASSWORD: 'a very long password' };

test('if no service is running, the database is started for the duration of the command', async () => {
  const { code, out, err } = await runInProcess(['apply', file], environment);
  assert.equal(code, 0, err);
  assert.equal(err, '');
  assert.match(out, /^Done: 3 created/m);
});

test('if a service is running, its database is used, and it sees the change within a second', async () => {
  const service = runSignalpost(['start'], environment);
  const [, url = ''] = await service.printed(/^ {2}Service +(\S+)$/m);
  await service.printed(/Start here, and make yourself the owner/);
  const headers = { authorization: `Bearer ${await getDemoToken(url, dataDir)}` };
  const list = () => sendRequest(`${url}/api/1/list`, { headers });
  assert.equal((await list()).body.totalCount, 1);
  const { out } = await runInProcess(
    ['apply', '-'],
    environment,
    'accounts: [{ id: "1000", name: Demo Shop, suspended: true }]',
  );
  assert.match(out, /^changed +account +1000 {2}\(suspended: can’t send\)$/m);
  await waitFor(
    'the suspension',
    async () => (await list()).body.message === 'Account Temporarily Suspended',
    1_000,
  );
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
});
