import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
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
