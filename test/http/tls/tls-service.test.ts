import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { test } from 'node:test';
import { openHttp2, requestHttp2 } from '../../support/http2-client.ts';
import { goodBody } from '../../support/send-client.ts';
import { inboxHeaders, metricsHeaders } from '../../support/service-tokens.ts';
import { passwordFields } from '../../support/session-world.ts';
import { openShop } from '../../support/shop.ts';
import { TestAuthority } from '../../support/test-certificates.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { writeCertificate } from '../../support/tls-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const authority = new TestAuthority();
const files = writeCertificate(authority.issue(['localhost'], 30));
const service = await startTestService({
  databaseUrl,
  environment: { TLS_CERT: files.cert.path, TLS_KEY: files.key.path },
});
const { port } = new URL(service.url);
const session = await openHttp2(`https://localhost:${port}`, authority.ca);
const shop = await openShop(database);

test('without PUBLIC_URL, links begin with https', async () => {
  const response = await requestHttp2(session, {
    ':path': '/.well-known/oauth-authorization-server',
  });
  assert.equal(JSON.parse(response.text).issuer, `https://127.0.0.1:${port}`);
});

test('cookies over HTTP/2 are secure and bound to the host', async () => {
  const { headers, status } = await requestHttp2(session, { ':path': '/sign-in' });
  assert.equal(status, 200);
  assert.match(String(headers['set-cookie']), /^__Host-signalpost=.*; Secure/);
});

test('a token and a message are sent over HTTP/2, and the message arrives in the inbox', async () => {
  const token = await requestHttp2(
    session,
    { ':path': '/token', ':method': 'POST', 'content-type': 'application/x-www-form-urlencoded' },
    String(new URLSearchParams(passwordFields(shop.owner, shop.integration))),
  );
  assert.equal(token.status, 200, token.text);
  const accessToken: string = JSON.parse(token.text).access_token;
  const sent = await requestHttp2(
    session,
    {
      ':path': `/ete/v1/email/${shop.id}/t-0001`,
      ':method': 'POST',
      'content-type': 'application/json',
      authorization: `Bearer ${accessToken}`,
    },
    JSON.stringify(goodBody()),
  );
  assert.equal(sent.status, 200, sent.text);
  await waitFor('the message', async () => {
    const { text } = await requestHttp2(session, {
      ':path': '/inbox/api/messages?to=reader@example.test',
      ...inboxHeaders,
    });
    return text.includes('Your order');
  });
});

test('the live inbox streams its beginning over HTTP/2 while the response is open', async () => {
  const stream = session.request({ ':path': '/inbox/updates', ...inboxHeaders });
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await waitFor('the stream', () => text.includes('retry'));
  stream.close();
});

test('/metrics tells when the certificate expires', async () => {
  const { text } = await requestHttp2(session, { ':path': '/metrics', ...metricsHeaders });
  const [, seconds] =
    /^signalpost_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text) ?? [];
  const days = (Number(seconds) * 1_000 - Date.now()) / 86_400_000;
  assert.ok(days > 29 && days <= 30, String(seconds));
});

test('a service stops within seconds while clients hold idle connections of both versions', async () => {
  const agent = new Agent({ keepAlive: true });
  const started = performance.now();
  await service.stop();
  assert.ok(performance.now() - started < 10_000);
  agent.destroy();
});
