import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { OperatorError } from '../../src/base/values/errors.ts';
import { readConfig } from '../../src/operating/config/config.ts';
import { sendRequest } from '../support/send-request.ts';
import { password, SessionWorld } from '../support/session-world.ts';
import { TestBrowser } from '../support/test-browser.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const secure = await startTestService({
  databaseUrl,
  environment: { PUBLIC_URL: 'https://mail.shop.test' },
});
const plain = await startTestService({ databaseUrl });
const field = 'strict-transport-security';

const requests: readonly (readonly [string, RequestInit, number])[] = [
  ['/healthz', {}, 200],
  ['/nowhere', {}, 404],
  ['/console', {}, 200],
  ['/inbox', {}, 302],
  ['/inbox/api/messages', {}, 401],
  ['/metrics', {}, 401],
  ['/sign-in', {}, 200],
  ['/manage/v1/me', {}, 401],
  ['/token', { method: 'POST' }, 401],
  ['/api/1/list', {}, 401],
  ['/ete/v1/email/1000/receipt', { method: 'POST', body: '{}' }, 401],
];

test('RFC 6797 7.1, ASVS 14.4.5: with an https PUBLIC_URL, every response tells browsers to use https only', async () => {
  for (const [path, init, status] of requests) {
    const response = await sendRequest(secure.url + path, init);
    assert.equal(response.status, status, path);
    assert.equal(response.headers.get(field), 'max-age=31536000', path);
    assert.equal((await sendRequest(plain.url + path, init)).headers.get(field), null, path);
  }
});

test('RFC 6797 7.1: so does the response to malformed HTTP', async () => {
  const { port, hostname } = new URL(secure.url);
  const socket = connect(Number(port), hostname);
  socket.write('NONSENSE\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  assert.match(
    chunk.toString(),
    /^HTTP\/1\.1 400 [\s\S]*\r\nstrict-transport-security: max-age=31536000\r\n/,
  );
  socket.destroy();
});

test('ASVS 3.4.1, 3.4.4: with an https PUBLIC_URL, the sign-in cookie is Secure and limited to this host', async () => {
  const person = await new SessionWorld(database).addPerson({ accounts: [] });
  const browser = new TestBrowser(secure.url);
  const page = await browser.open('/me');
  await browser.submit(page, { email: person.email, password });
  assert.deepEqual([...browser.cookies.keys()].sort(), [
    '__Host-signalpost',
    '__Host-signalpost-device',
  ]);
  const given = (await sendRequest(`${secure.url}/sign-in`)).headers.get('set-cookie') ?? '';
  assert.match(given, /^__Host-signalpost=[\w-]{43}; .*Path=\/.*; HttpOnly; Secure/);
  assert.doesNotMatch(given, /Domain/i);
});

test('ASVS 9.1.1: a PUBLIC_URL that would send passwords unencrypted stops the start unless it is allowed', () => {
  for (const PUBLIC_URL of [
    'http://mail.shop.test',
    'http://192.168.1.5:3000',
    'http://10.0.0.1',
    'http://127.0.0.1.evil.test',
    'http://localhost.evil.test',
    'http://notlocalhost',
    'http://[2001:db8::1]:3000',
    'http://[::ffff:192.0.2.1]',
    'http://0.0.0.0:3000',
  ]) {
    assert.throws(
      () => readConfig({ PUBLIC_URL }),
      (error) =>
        error instanceof OperatorError &&
        /unencrypted; use https, or set ALLOW_INSECURE_PUBLIC_URL=1/.test(error.message),
      PUBLIC_URL,
    );
    const told = readConfig({ PUBLIC_URL, ALLOW_INSECURE_PUBLIC_URL: '1' });
    assert.equal(told.publicUrl, PUBLIC_URL);
  }
  for (const PUBLIC_URL of [
    'https://mail.shop.test',
    'http://localhost:3000',
    'http://LOCALHOST',
    'http://shop.localhost:8080',
    'http://127.0.0.1:3000',
    'http://127.9.8.7',
    'http://[::1]:3000',
  ])
    assert.equal(readConfig({ PUBLIC_URL }).publicUrl, PUBLIC_URL);
});
