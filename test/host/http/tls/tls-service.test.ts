import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { test } from 'node:test';
import { addKey } from '../../../support/api-key.ts';
import { goodBody } from '../../../support/send-client.ts';
import { inboxHeaders, metricsHeaders } from '../../../support/service-tokens.ts';
import { passwordFields } from '../../../support/session-world.ts';
import { openShop } from '../../../support/shop.ts';
import { TestAuthority } from '../../../support/test-certificates.ts';
import { createTestDatabase } from '../../../support/test-database.ts';
import { startTestService } from '../../../support/test-service.ts';
import { writeCertificate } from '../../../support/tls-server.ts';
import { waitFor } from '../../../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const authority = new TestAuthority();
const files = writeCertificate(authority.issue(['localhost'], 30));
const service = await startTestService({
  databaseUrl,
  environment: { TLS_CERT: files.cert.path, TLS_KEY: files.key.path },
});
const { port } = new URL(service.url);
const agent = new Agent({ keepAlive: true, ca: authority.ca });
const shop = await openShop(database);

async function open(
  path: string,
  { method = 'GET', headers = {}, body = '' }: Record<string, unknown> = {},
): Promise<IncomingMessage> {
  const to = { port, host: 'localhost', path, method: String(method), agent };
  const outgoing = request({ ...to, headers: headers as Record<string, string> });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

async function answerOf(path: string, options?: Parameters<typeof open>[1]) {
  const response = await open(path, options);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, text };
}

test('without PUBLIC_URL, links begin with https', async () => {
  const response = await answerOf('/.well-known/oauth-authorization-server');
  assert.equal(JSON.parse(response.text).issuer, `https://127.0.0.1:${port}`);
});

test('cookies over HTTPS are secure and bound to the host', async () => {
  const { headers, status } = await answerOf('/sign-in');
  assert.equal(status, 200);
  assert.match(String(headers['set-cookie']), /^__Host-signalpost=.*; Secure/);
});

test('a token and a message are sent over HTTPS, and the message arrives in the inbox', async () => {
  const token = await answerOf('/token', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(passwordFields(shop.owner, shop.integration))),
  });
  assert.equal(token.status, 200, token.text);
  const accessToken: string = JSON.parse(token.text).access_token;
  const sent = await answerOf(`/ete/v1/email/${shop.id}/t-0001`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
    body: JSON.stringify(goodBody()),
  });
  assert.equal(sent.status, 200, sent.text);
  await waitFor('the message', async () => {
    const path = '/inbox/api/messages?to=reader@example.test';
    const { text } = await answerOf(path, { headers: inboxHeaders });
    return text.includes('Your order');
  });
});

test('events stream their beginning over HTTPS while the response is open', async () => {
  const key = await addKey(database, shop.id, { scopes: ['messages:read'] });
  const stream = await open(`/manage/v1/accounts/${shop.id}/events?after=latest`, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
  });
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  stream.on('error', () => undefined);
  await waitFor('the stream', () => text.includes('retry'));
  stream.destroy();
});

test('/metrics tells when the certificate expires', async () => {
  const { text } = await answerOf('/metrics', { headers: metricsHeaders });
  const [, seconds] =
    /^signalpost_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text) ?? [];
  const days = (Number(seconds) * 1_000 - Date.now()) / 86_400_000;
  assert.ok(days > 29 && days <= 30, String(seconds));
});

test('a service stops within seconds while clients hold idle connections', async () => {
  const started = performance.now();
  await service.stop();
  assert.ok(performance.now() - started < 10_000);
  agent.destroy();
});
