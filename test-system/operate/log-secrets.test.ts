import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';

const dataDir = copyDataFolder('initialized');

/** A client's typical calls: valid and invalid token requests and sends, and a message status. */
async function useService(
  url: string,
  secrets: Record<string, string | undefined>,
): Promise<string[]> {
  const ask = (fields: Record<string, string>) =>
    fetch(`${url}/token`, { method: 'POST', body: new URLSearchParams(fields) });
  const credentials = {
    grant_type: 'password',
    username: secrets.DEMO_OWNER_EMAIL ?? '',
    client_id: 'demo',
    client_secret: secrets.DEMO_CLIENT_SECRET ?? '',
  };
  await ask({ ...credentials, password: 'wrong-password-of-owner' });
  const granted = await ask({ ...credentials, password: secrets.DEMO_OWNER_PASSWORD ?? '' });
  const { access_token: token, refresh_token: refresh } = (await granted.json()) as Record<
    string,
    string
  >;
  const send = (template: string, body: object) =>
    fetch(`${url}/ete/v1/email/1000/${template}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const actions = { trackOpens: false, trackClicks: false };
  await send('receipt', { envelope: { toAddress: 'broken-address-of-reader' }, actions });
  const values = { 'Reset Link': 'https://shop.test/reset/secret-of-reader' };
  const response = await send('password-reset', {
    envelope: { toAddress: 'reader@example.test' },
    content: { personalizationDataMap: values },
    actions,
  });
  assert.equal(response.status, 200);
  const [mail] = await readInbox(url, '?to=reader@example.test&wait=60', {
    authorization: `Bearer ${secrets.INBOX_TOKEN}`,
  });
  // The link is guarded: only the button of its page leads on, and no log tells where.
  const [path = ''] = /\/g\/[\w-]+/.exec(mail?.html ?? '') ?? [];
  const guarded = `${url}${path}`;
  assert.equal((await fetch(guarded)).status, 200);
  const pressed = new URLSearchParams({ continue: '1' });
  const led = await fetch(guarded, { method: 'POST', body: pressed, redirect: 'manual' });
  assert.equal(led.headers.get('location'), values['Reset Link']);
  const { messageId } = (await response.json()) as { messageId: string };
  const status = await fetch(`${url}/ete/v1/message/1000/${messageId}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.doesNotMatch(await status.text(), /secret-of-reader/);
  return [String(token), String(refresh), 'secret-of-reader', 'wrong-password-of-owner'];
}

test('logs at info and debug contain no secrets, and logs at info contain no addresses', async () => {
  for (const level of ['info', 'debug']) {
    const service = runSignalpost(['start'], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: level });
    const [, url = ''] = await service.printed(/Service\s+(http:\/\/\S+)/);
    const file = readFileSync(join(dataDir, 'demo.env'), 'utf8').replaceAll('export ', '');
    const secrets = parseEnv(file);
    const hidden = await useService(url, secrets);
    const [link, code = ''] = await service.printed(/http\S+\/inbox\/enter\?code=(\S+)/);
    assert.equal((await fetch(link, { redirect: 'manual' })).status, 303);
    service.child.kill('SIGTERM');
    assert.equal(await service.exit, 0);
    const stored = ['DEMO_OWNER_PASSWORD', 'DEMO_CLIENT_SECRET', 'INBOX_TOKEN'].map(
      (name) => secrets[name] ?? '',
    );
    const addresses =
      level === 'info' ? ['reader@example.test', 'owner@shop.test', 'of-reader'] : [];
    for (const secret of [...hidden, ...stored, ...addresses, code]) {
      assert.ok(!service.output.stderr.includes(secret), `the ${level} log tells ${secret}`);
    }
    for (const line of service.output.stderr.trim().split('\n')) {
      assert.doesNotThrow(() => JSON.parse(line), `not JSON: ${line}`);
    }
  }
});
