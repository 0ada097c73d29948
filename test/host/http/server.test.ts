import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { sendRequest } from '../../support/send-request.ts';
import { inboxHeaders, metricsHeaders } from '../../support/service-tokens.ts';
import { openGate } from '../../support/tcp-gate.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const { url } = await startTestService({ databaseUrl });
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('every response has X-Request-Id, and error bodies have the same id', async () => {
  const found = await fetch(`${url}/healthz`);
  assert.match(found.headers.get('x-request-id') ?? '', uuid);
  const missing = await fetch(`${url}/nowhere`);
  assert.equal(missing.status, 404);
  const body: unknown = await missing.json();
  assert.deepEqual(body, {
    status: 404,
    message: 'Not Found',
    requestId: missing.headers.get('x-request-id'),
  });
});

test('a browser gets a page for an unknown address, with a way on and without scripts', async () => {
  const response = await fetch(`${url}/nowhere`, { headers: { accept: 'text/html,*/*;q=0.8' } });
  assert.equal(response.status, 404);
  assert.match(response.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  const text = await response.text();
  assert.match(text, /<h1>Page not found<\/h1>/);
  assert.match(text, /<a class="button" href="\/console">/);
  assert.doesNotMatch(text, /<script|nowhere/);
});

test('a trailing slash makes no difference', async () => {
  assert.equal((await fetch(`${url}/healthz/`)).status, 200);
});

test("readiness says why a node can't serve", async () => {
  await database.pool.query("update schema_migration set sha256 = 'x' || sha256 where version = 1");
  const response = await fetch(`${url}/readyz`);
  assert.equal(response.status, 503);
  assert.deepEqual(await response.json(), {
    status: 'not ready',
    reason: 'the database needs this release’s migrations',
  });
  await database.pool.query(
    'update schema_migration set sha256 = substr(sha256, 2) where version = 1',
  );
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
});

test('readiness responds within seconds while the database hangs, and recovers with it', async () => {
  const gate = await openGate(databaseUrl);
  const node = await startTestService({ databaseUrl: gate.url, worker: false });
  assert.equal((await fetch(`${node.url}/readyz`)).status, 200);
  gate.hold();
  const started = performance.now();
  const responses = await Promise.all([1, 2, 3].map(() => fetch(`${node.url}/readyz`)));
  assert.ok(performance.now() - started < 30_000);
  for (const response of responses) {
    assert.equal(response.status, 503);
    assert.deepEqual(await response.json(), {
      status: 'not ready',
      reason: 'the database is not responding',
    });
  }
  gate.open();
  await waitFor('the node to be ready', async () => (await fetch(`${node.url}/readyz`)).ok);
});

test('metrics require the token', async () => {
  const read = (authorization?: string) =>
    sendRequest(`${url}/metrics`, {
      headers: authorization === undefined ? {} : { authorization },
    });
  const known = await read(metricsHeaders.authorization);
  assert.equal(known.status, 200);
  assert.match(known.text, /process_resident_memory_bytes/);
  const stranger = await read();
  assert.equal(stranger.status, 401);
  assert.equal(stranger.headers.get('www-authenticate'), 'Bearer realm="signalpost metrics"');
  for (const wrong of [
    `${metricsHeaders.authorization}x`,
    'Bearer x',
    inboxHeaders.authorization,
  ]) {
    const { status, headers } = await read(wrong);
    assert.equal(status, 401, wrong);
    assert.match(headers.get('www-authenticate') ?? '', /error="invalid_token"/);
  }
});

test('without METRICS_TOKEN nobody can read the metrics, and the response names the setting', async () => {
  const closed = await startTestService({
    databaseUrl,
    environment: { METRICS_TOKEN: '' },
    worker: false,
  });
  for (const headers of [{}, { authorization: 'Bearer undefined' }, metricsHeaders]) {
    const { status, text } = await sendRequest(`${closed.url}/metrics`, { headers });
    assert.equal(status, 401);
    assert.match(text, /Set METRICS_TOKEN/);
  }
});

test('metrics are public with METRICS_PUBLIC', async () => {
  const environment = { METRICS_PUBLIC: '1', METRICS_TOKEN: '' };
  const open = await startTestService({ databaseUrl, environment });
  assert.equal((await sendRequest(`${open.url}/metrics`)).status, 200);
});

test('malformed HTTP gets a 400 and the server keeps running', async () => {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write('NONSENSE\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  assert.match(chunk.toString(), /^HTTP\/1\.1 400 /);
  socket.destroy();
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
});
