import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { addKey } from '../../support/api-key.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { clientSecret, passwordFields } from '../../support/session-world.ts';
import { getToken, openShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

/** What clients met that weren't written for this service. */

const { database, url: databaseUrl } = await createTestDatabase();
const shop = await openShop(database);
const origin = 'https://app.example.com';
const service = await startTestService({ databaseUrl, environment: { CORS_ORIGINS: origin } });
const { url } = service;
const key = await addKey(database, shop.id);

function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write(text);
  return once(socket, 'close').then(() => received);
}

test('a 401 of the management API says so if the token that was sent is invalid', async () => {
  const path = `${url}/manage/v1/accounts/${shop.id}/messages`;
  const unknown = await sendRequest(path, { headers: { authorization: 'Bearer old' } });
  assert.equal(unknown.status, 401);
  assert.equal(
    unknown.headers.get('www-authenticate'),
    'Bearer realm="signalpost", error="invalid_token"',
  );
  const missing = await sendRequest(path);
  assert.equal(missing.headers.get('www-authenticate'), 'Bearer realm="signalpost"');
});

test('a token request with an old Bearer header, or with Basic that agrees, gets a token', async () => {
  const fields = new URLSearchParams(passwordFields(shop.owner, shop.integration));
  const { clientId } = shop.integration;
  const basic = (secret: string): string =>
    `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64')}`;
  for (const [authorization, status] of [
    ['Bearer old', 200],
    [basic(clientSecret), 200],
    [basic('other'), 400],
  ] as const) {
    const response = await sendRequest(`${url}//token`, {
      method: 'POST',
      body: fields,
      headers: { authorization },
    });
    assert.equal(response.status, status, response.text);
  }
});

test('every OAuth endpoint responds to other methods with 405 and Allow', async () => {
  for (const path of ['/token', '/revoke', '/introspect'])
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await sendRequest(`${url}${path}`, { method });
      assert.equal(response.status, 405, `${method} ${path}`);
      assert.equal(response.headers.get('allow'), 'POST');
      if (method !== 'HEAD') assert.equal(response.body.error, 'invalid_request');
    }
  for (const [path, allow] of [
    ['/.well-known/oauth-authorization-server', 'GET, HEAD'],
    ['/api/1/list', 'GET, HEAD'],
    ['/ete/v1/email/1/2', 'POST'],
  ] as const) {
    const response = await sendRequest(`${url}${path}`, { method: 'OPTIONS' });
    assert.deepEqual([response.status, response.headers.get('allow')], [405, allow], path);
  }
});

test('a compressed form is refused with a reason', async () => {
  for (const path of ['/token', '/revoke']) {
    const response = await sendRequest(`${url}${path}`, {
      method: 'POST',
      body: gzipSync('grant_type=password'),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-encoding': 'gzip',
      },
    });
    assert.equal(response.status, 400);
    assert.match(String(response.body.error_description), /Content-Encoding/);
  }
});

test('a missing Host and an unknown Expect get a body and a request ID', async () => {
  for (const [head, status] of [
    ['GET /healthz HTTP/1.1\r\n', 400],
    ['POST /ete/v1/email/1/2 HTTP/1.1\r\nContent-Length: 2\r\n', 400],
    ['POST /ete/v1/email/1/2 HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nContent-Length: 2\r\n', 417],
  ] as const) {
    const received = await raw(`${head}\r\n`);
    assert.match(received, new RegExp(`^HTTP/1.1 ${status} `));
    const id = /^x-request-id: (.*)$/im.exec(received)?.[1];
    const body = JSON.parse(received.slice(received.indexOf('\r\n\r\n')));
    assert.equal(body.requestId, id);
    assert.equal(body.status, status);
    assert.match(body.message, /Host|Expect/);
  }
  // HTTP/1.0 has no Host.
  assert.match(await raw('GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1.1 200 /);
});

test('discovery at localhost names the issuer, unless PUBLIC_URL is localhost', async () => {
  const path = '/.well-known/oauth-authorization-server';
  const port = new URL(url).port;
  const refused = await rawRequest(`${url}${path}`, { headers: { host: `localhost:${port}` } });
  assert.equal(refused.status, 400);
  assert.match(refused.text, new RegExp(`The issuer of this service is ${url}`));
  assert.match(refused.text, /PUBLIC_URL=http:\/\/localhost/);
  const known = await sendRequest(`${url}${path}`);
  assert.equal(known.body.issuer, url);
  assert.equal(known.headers.get('access-control-allow-origin'), '*');
  const named = await startTestService({
    databaseUrl,
    worker: false,
    environment: { PUBLIC_URL: 'http://localhost:8080' },
  });
  const local = await rawRequest(`${named.url}${path}`, { headers: { host: 'localhost:8080' } });
  assert.equal(JSON.parse(local.text).issuer, 'http://localhost:8080');
});

test('pages of the listed origins can call the API, without credentials; those of others can’t', async () => {
  const send = `${url}/ete/v1/email/${shop.id}/t-0001`;
  const preflight = (target: string, from: string) =>
    rawRequest(target, {
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
  for (const target of [
    send,
    `${url}/manage/v1/accounts/${shop.id}/messages`,
    `${url}/api/1/list`,
  ]) {
    const response = await preflight(target, origin);
    assert.equal(response.status, 204, response.text);
    assert.equal(response.headers['access-control-allow-origin'], origin);
    assert.match(
      String(response.headers['access-control-allow-headers']),
      /Authorization.*Idempotency-Key/,
    );
    assert.equal(response.headers['access-control-max-age'], '600');
    assert.equal(response.headers['access-control-allow-credentials'], undefined);
    const other = await preflight(target, 'https://other.example.com');
    assert.equal(other.status, 405);
    assert.equal(other.headers['access-control-allow-origin'], undefined);
  }
  for (const path of ['/token', '/sign-in', '/inbox'])
    assert.equal(
      (await preflight(`${url}${path}`, origin)).headers['access-control-allow-origin'],
      undefined,
    );
  const sender = new SendClient(service, await getToken(service, shop));
  const sent = await sender.send({ headers: { origin } });
  assert.equal(sent.status, 200, sent.text);
  assert.equal(sent.headers.get('access-control-allow-origin'), origin);
  assert.equal(sent.headers.get('vary'), 'Origin');
  const foreign = await sender.send({ headers: { origin: 'https://other.example.com' } });
  assert.equal(foreign.headers.get('access-control-allow-origin'), null);
  const read = await sendRequest(`${url}/manage/v1/accounts/${shop.id}/messages`, {
    headers: { origin, authorization: `Bearer ${key}` },
  });
  assert.equal(read.headers.get('access-control-allow-origin'), origin);
  assert.match(read.headers.get('access-control-expose-headers') ?? '', /ETag/);
  // An error can be read too.
  const refused = await sendRequest(`${url}/manage/v1/me`, { headers: { origin } });
  assert.equal(refused.headers.get('access-control-allow-origin'), origin);
  const closed = await startTestService({ databaseUrl, worker: false });
  assert.equal(
    (await preflight(`${closed.url}/api/1/list`, origin)).headers['access-control-allow-origin'],
    undefined,
  );
});
