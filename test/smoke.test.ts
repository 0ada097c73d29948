import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { runSignalpost } from './support/run-signalpost.ts';
import { sendRequest } from './support/send-request.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { waitFor } from './support/wait-for.ts';

test('the program starts, issues a token, sends an email into the inbox, and stops', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const service = runSignalpost(['start'], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' });
  const [, url = ''] = await service.printed(/Service\s+(http:\/\/\S+)/);
  const demo = parseEnv(readFileSync(join(dataDir, 'demo.env'), 'utf8'));
  const token = await sendRequest(`${url}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      username: demo.DEMO_OWNER_EMAIL ?? '',
      password: demo.DEMO_OWNER_PASSWORD ?? '',
      client_id: demo.DEMO_CLIENT_ID ?? '',
      client_secret: demo.DEMO_CLIENT_SECRET ?? '',
    }),
  });
  assert.equal(token.status, 200, token.text);
  const sent = await sendRequest(`${url}/ete/v1/email/1000/receipt`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token.body.access_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      envelope: { toAddress: 'ada@customer.example' },
      content: { personalizationDataMap: { 'Order Number': 'A-1', Total: '24.90' } },
      metadata: { transactional: true },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  assert.equal(sent.status, 200, sent.text);
  const headers = { authorization: `Bearer ${demo.INBOX_TOKEN}` };
  await waitFor('the email in the inbox', async () => {
    const { body } = await sendRequest(`${url}/inbox/api/messages`, { headers });
    return JSON.stringify(body).includes('ada@customer.example');
  });
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0, service.output.stderr);
});
