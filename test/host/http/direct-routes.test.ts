import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, test } from 'node:test';
import { createLog } from '../../../src/base/values/log.ts';
import { createHttp } from '../../../src/host/http/create-http.ts';
import type { DirectHandler } from '../../../src/host/http/direct-routes.ts';
import { readBody } from '../../../src/host/http/read-body.ts';
import { logIntoLines } from '../../support/log-into-lines.ts';
import { testRoute } from '../../support/test-route.ts';
import { waitFor } from '../../support/wait-for.ts';

const routes = [testRoute('POST', '/direct/*'), testRoute('POST', '/other')];

const agent = new Agent({ keepAlive: true });
after(() => agent.destroy());

async function startServer(handler: DirectHandler) {
  const { log, lines } = logIntoLines('debug');
  const http = createHttp({ log, trustProxy: [], routes });
  http.direct.post('/direct/', '/direct/:id', handler);
  http.post('/other', () => 'other');
  await http.listen({ host: '127.0.0.1', port: 0 });
  after(() => http.close());
  const { port } = http.server.address() as AddressInfo;
  return { http, port, url: `http://127.0.0.1:${port}`, lines };
}

test('a POST below the prefix goes to the handler, everything else to the framework', async () => {
  const { url } = await startServer(async (exchange) => exchange.answer(200, '"direct"'));
  const post = async (path: string) => (await fetch(url + path, { method: 'POST' })).text();
  assert.equal(await post('/direct/1'), '"direct"');
  assert.equal(await post('/direct/'), '"direct"');
  assert.equal(await post('/other'), 'other');
  for (const response of [fetch(`${url}/direct/1`), fetch(`${url}/direct`, { method: 'POST' })])
    assert.equal((await response).status, 404);
});

test('a response has its length in bytes, its headers, the request id and a log line', async () => {
  const { url, lines } = await startServer(async (exchange) =>
    exchange.answer(202, '{"a":"ü"}', ['retry-after', '1']),
  );
  const response = await fetch(`${url}/direct/7?x=y`, { method: 'POST' });
  assert.equal(response.status, 202);
  assert.equal(response.headers.get('content-length'), '10');
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(response.headers.get('retry-after'), '1');
  assert.deepEqual(await response.json(), { a: 'ü' });
  const id = response.headers.get('x-request-id');
  assert.match(id ?? '', /^[0-9a-f-]{36}$/);
  const [line] = lines.filter(({ msg }) => msg === 'answered');
  const { requestId, route, method, status } = line ?? {};
  assert.deepEqual([requestId, route, method, status], [id, '/direct/:id', 'POST', 202]);
});

test('both addresses of localhost and injected requests reach the handler', async (t) => {
  const http = createHttp({ log: createLog('silent'), trustProxy: [], routes });
  t.after(() => http.close());
  http.direct.post('/direct/', '/direct/:id', async (exchange) => {
    const body = await readBody(exchange.request, 100);
    exchange.answer(200, String(body));
  });
  await http.listen({ host: 'localhost', port: 0 });
  for (const { address, family, port } of http.addresses() as AddressInfo[]) {
    const host = family === 'IPv6' ? `[${address}]` : address;
    const init = { method: 'POST', body: '"whole"' };
    const response = await fetch(`http://${host}:${port}/direct/1`, init);
    assert.equal(await response.text(), '"whole"', host);
    assert.ok(response.headers.has('x-request-id'));
  }
  const injected = await http.inject({ method: 'POST', url: '/direct/1', payload: '"whole"' });
  assert.equal(injected.payload, '"whole"');
});

test('if a handler throws, the error is logged, the connection closes, and the next request works', async () => {
  let broken = true;
  const { url, lines } = await startServer(async (exchange) => {
    if (broken) throw new Error('broken');
    exchange.answer(200, '{}');
  });
  await assert.rejects(fetch(`${url}/direct/1`, { method: 'POST' }));
  assert.equal(lines.filter(({ msg }) => msg === 'request failed').length, 1);
  broken = false;
  assert.equal((await fetch(`${url}/direct/1`, { method: 'POST' })).status, 200);
});

test('a client that disconnects before its response does no harm', async () => {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let answered = 0;
  let disconnected = false;
  const { port, url, lines } = await startServer(async (exchange) => {
    exchange.request.once('close', () => {
      disconnected = true;
    });
    await readBody(exchange.request, 100);
    if (answered === 0) await gate;
    exchange.answer(200, '{}');
    answered += 1;
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /direct/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
  await once(socket, 'connect');
  await waitFor('the request', async () => disconnected);
  socket.destroy();
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 404);
  release();
  await waitFor('the answer', async () => answered === 1);
  assert.equal((await fetch(`${url}/direct/1`, { method: 'POST', body: '{}' })).status, 200);
  assert.deepEqual(
    lines.filter(({ level }) => Number(level) >= 40),
    [],
  );
});

/** Sends a body for as long as the server accepts it; returns the response and the number of bytes sent. */
async function pour(port: number, head: readonly string[], piece: Buffer, maxBytes: number) {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.write(`${['POST /direct/1 HTTP/1.1', 'Host: x', ...head].join('\r\n')}\r\n\r\n`);
  while (!socket.destroyed && socket.bytesWritten < maxBytes)
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => ended), ended]);
  const taken = socket.bytesWritten - socket.writableLength;
  return { socket, ended, taken, answer: () => text };
}

test('a rejected body announced as too large closes the connection; a chunked one is read up to a limit first', async () => {
  const { port } = await startServer(async (exchange) => exchange.answer(401, '{}'));
  const maxBytes = 128 * 1024 * 1024;
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const announced = await pour(port, ['Content-Length: 50000000000'], megabyte, maxBytes);
  await announced.ended;
  assert.match(announced.answer(), /^HTTP\/1\.1 401 .*connection: close/is);
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), megabyte, Buffer.from('\r\n')]);
  const chunked = await pour(port, ['Transfer-Encoding: chunked'], chunk, maxBytes);
  await chunked.ended;
  assert.match(chunked.answer(), /^HTTP\/1\.1 401 /);
  for (const { taken } of [announced, chunked]) assert.ok(taken < maxBytes / 2, `${taken} bytes`);
});

test('a rejected body of ordinary length is discarded, and its connection serves the next request', async () => {
  const { port } = await startServer(async (exchange) => exchange.answer(401, '{}'));
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const post = (body: string) =>
    socket.write(
      `POST /direct/1 HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  post('x'.repeat(400 * 1024));
  post('');
  await waitFor('two answers', () => text.match(/HTTP\/1\.1 401/g)?.length === 2);
  assert.doesNotMatch(text, /connection: close/i);
  socket.destroy();
});

test('while the server closes, a connection closes after its response', async () => {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = false;
  const { http, port } = await startServer(async (exchange) => {
    waiting = true;
    await gate;
    exchange.answer(200, '{}');
  });
  const outgoing = request({ port, host: '127.0.0.1', path: '/direct/1', method: 'POST', agent });
  outgoing.end();
  await waitFor('the request', async () => waiting);
  const closing = http.close();
  await waitFor('the server to stop listening', async () => !http.server.listening);
  release();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers.connection, 'close');
  response.resume();
  await closing;
});
