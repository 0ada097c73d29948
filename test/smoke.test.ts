import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { sendReceipt } from './support/backup-scene.ts';
import { getDemoToken } from './support/demo-token.ts';
import { runSignalpost } from './support/run-signalpost.ts';
import { sendRequest } from './support/send-request.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { waitFor } from './support/wait-for.ts';

test('the program starts, issues a token, sends an email into the inbox, and stops', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const service = runSignalpost(['start'], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' });
  const [, url = ''] = await service.printed(/Service\s+(http:\/\/\S+)/);
  const demo = parseEnv(readFileSync(join(dataDir, 'demo.env'), 'utf8'));
  await sendReceipt({ url, key: await getDemoToken(url, dataDir) }, 'A-1');
  const headers = { authorization: `Bearer ${demo.INBOX_TOKEN}` };
  await waitFor('the email in the inbox', async () => {
    const { body } = await sendRequest(`${url}/inbox/api/messages`, { headers });
    return JSON.stringify(body).includes('ada@customer.example');
  });
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0, service.output.stderr);
});
