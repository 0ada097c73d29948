import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createLog } from '../../../src/base/values/log.ts';
import { createHttp } from '../../../src/host/http/create-http.ts';
import { testRoute } from '../../support/test-route.ts';
import { waitFor } from '../../support/wait-for.ts';

const routes = [testRoute('GET', '/*')];

const agent = new Agent({ keepAlive: true });
after(() => agent.destroy());

async function startServer() {
  const http = createHttp({ log: createLog('silent'), trustProxy: [], routes });
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let waiting = 0;
  http.get('/slow', async () => {
    waiting += 1;
    await gate;
    return { answered: true };
  });
  await http.listen({ host: '127.0.0.1', port: 0 });
  const { port } = http.server.address() as AddressInfo;
  return { http, port, open: () => open(), waiting: () => waiting };
}

test("a connection without any request doesn't delay closing", async () => {
  const { http, port } = await startServer();
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  const started = performance.now();
  await http.close();
  assert.ok(performance.now() - started < 5_000);
  silent.destroy();
});

test('a request in progress gets its response, and then its connection closes', async () => {
  const { http, port, open, waiting } = await startServer();
  const outgoing = request({ port, host: '127.0.0.1', path: '/slow', agent });
  outgoing.end();
  await waitFor('the request', () => waiting() === 1);
  const started = performance.now();
  const closing = http.close();
  open();
  const [incoming] = await once(outgoing, 'response');
  assert.equal(incoming.statusCode, 200);
  incoming.resume();
  await closing;
  assert.ok(performance.now() - started < 5_000);
});

test('a connection that was opened just before the server closes still brings its request', async () => {
  const { http, port } = await startServer();
  const accepted = once(http.server, 'connection');
  const fresh = connect(port, '127.0.0.1');
  await accepted;
  const closing = http.close();
  await waitFor('the server to stop listening', () => !http.server.listening);
  fresh.end('GET /nothing HTTP/1.1\r\nHost: shop.test\r\n\r\n');
  const answer = await text(fresh);
  assert.match(answer, /^HTTP\/1\.1 404 /);
  assert.match(answer, /^connection: close\r$/im);
  await closing;
});
