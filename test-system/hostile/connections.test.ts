import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../../src/base/values/errors.ts';
import { createLog } from '../../src/base/values/log.ts';
import { createHttp } from '../../src/host/http/create-http.ts';
import type { ConnectionLimits } from '../../src/host/http/limits/limit-connections.ts';
import { readConfig } from '../../src/operating/config/config.ts';
import { testRoute } from '../../test/support/test-route.ts';
import { waitFor } from '../../test/support/wait-for.ts';

/** Linux has all of 127.0.0.0/8 on its loopback, so other peers need no other machines. */
const onLinux = { skip: process.platform === 'linux' ? false : 'needs 127.0.0.2' };

/** A server with a route that responds at once, and one that waits until it is released. */
async function startServer(
  t: TestContext,
  connections: ConnectionLimits,
  trustProxy: string[] = [],
) {
  const routes = [testRoute('GET', '/fast'), testRoute('GET', '/slow')];
  const http = createHttp({ log: createLog('silent'), trustProxy, routes, connections });
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = 0;
  http.get('/fast', () => 'fast');
  http.get('/slow', async () => {
    waiting += 1;
    await gate;
    return 'slow';
  });
  await http.listen({ host: '127.0.0.1', port: 0 });
  const sockets: Socket[] = [];
  t.after(async () => {
    release();
    for (const socket of sockets) socket.destroy();
    await http.close();
  });
  const { port } = http.server.address() as AddressInfo;
  return {
    release,
    waiting: () => waiting,
    open: () =>
      new Promise<number>((resolve, reject) =>
        http.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    /** Connects from a loopback address and sends text. */
    async send(text: string, localAddress = '127.0.0.1'): Promise<Talk> {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      sockets.push(socket);
      const talk = { socket, text: '', ended: false };
      socket.on('data', (chunk: Buffer) => {
        talk.text += chunk.toString('latin1');
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        talk.ended = true;
      });
      await once(socket, 'connect');
      socket.write(text);
      return talk;
    },
    /** The status of a request on a separate connection. */
    async requestStatus(localAddress: string): Promise<number | undefined> {
      const agent = new Agent({ keepAlive: false });
      const outgoing = request({ port, host: '127.0.0.1', localAddress, path: '/fast', agent });
      outgoing.end();
      const [response] = await once(outgoing, 'response');
      response.resume();
      return response.statusCode;
    },
  };
}

interface Talk {
  readonly socket: Socket;
  text: string;
  ended: boolean;
}

const half = 'GET /fast HTTP/1.1\r\nHost: x\r\nX-Slow: ';
const fast = 'GET /fast HTTP/1.1\r\nHost: x\r\n\r\n';
const slow = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';

test(
  'ASVS 4.0.3 11.1.4: slow request heads hold no more connections than the limit per peer',
  onLinux,
  async (t) => {
    const server = await startServer(t, { total: 100, perPeer: 50 });
    const talks = await Promise.all(Array.from({ length: 300 }, () => server.send(half)));
    await waitFor('the cap', () => talks.filter(({ ended }) => !ended).length === 50);
    assert.equal(await server.requestStatus('127.0.0.2'), 200);
    // The peer's own oldest idle connection is closed to free capacity.
    assert.equal(await server.requestStatus('127.0.0.1'), 200);
  },
);

test(
  'ASVS 4.0.3 11.1.4: if all connections are in use, the one idle longest is closed for another peer',
  onLinux,
  async (t) => {
    const server = await startServer(t, { total: 10, perPeer: 6 });
    const first = await server.send(fast, '127.0.0.2');
    await waitFor('an answer', () => first.text !== '');
    const others: Talk[] = [];
    for (const at of Array.from({ length: 9 }).keys())
      others.push(await server.send(half, at < 6 ? '127.0.0.3' : '127.0.0.4'));
    await waitFor('ten connections', async () => (await server.open()) === 10);
    assert.equal(await server.requestStatus('127.0.0.5'), 200);
    await waitFor('capacity', () => first.ended);
    assert.ok(others.every(({ ended }) => !ended));
  },
);

test('ASVS 4.0.3 11.1.4: a connection with a response in progress is never closed to free capacity', async (t) => {
  const server = await startServer(t, { total: 100, perPeer: 3 });
  const busy = [await server.send(slow), await server.send(slow), await server.send(slow)];
  await waitFor('the requests', () => server.waiting() === 3);
  const refused = await server.send(fast);
  await waitFor('the refusal', () => refused.ended);
  assert.equal(refused.text, '');
  server.release();
  for (const talk of busy) await waitFor('the answer', () => talk.text.endsWith('slow'));
  const next = await server.send(fast);
  await waitFor('the next answer', () => next.text.endsWith('fast'));
  // The first of the busy connections is closed.
  await waitFor('capacity', () => busy.filter(({ ended }) => ended).length === 1);
});

test(
  'ASVS 4.0.3 11.1.4: a few addresses whose requests never end can’t hold all connections',
  onLinux,
  async (t) => {
    const server = await startServer(t, { total: 6, perPeer: 3 });
    const busy: Talk[] = [];
    for (const address of ['127.0.1.1', '127.0.2.1'])
      for (let count = 0; count < 3; count += 1) busy.push(await server.send(slow, address));
    await waitFor('the requests', () => server.waiting() === 6);
    const early = await server.send(fast, '127.0.3.1');
    await waitFor('the refusal', () => early.ended);
    assert.equal(early.text, '', 'what has just begun goes on');
    const now = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => now() + 11_000);
    assert.equal(await server.requestStatus('127.0.3.1'), 200);
    assert.deepEqual(
      busy.map(({ ended }) => ended),
      [true, false, false, false, false, false],
    );
    // Its own network has as many as any other.
    const own = await server.send(slow, '127.0.1.1');
    await waitFor('the request', () => server.waiting() === 7);
    assert.equal(own.ended, false);
    const more = await server.send(fast, '127.0.2.1');
    await waitFor('the refusal', () => more.ended);
  },
);

test('a trusted proxy has no separate connection limit', async (t) => {
  const server = await startServer(t, { total: 100, perPeer: 2 }, ['loopback']);
  const talks: Talk[] = [];
  for (let at = 0; at < 5; at += 1) talks.push(await server.send(fast));
  for (const talk of talks) await waitFor('an answer', () => talk.text.endsWith('fast'));
  assert.ok(talks.every(({ ended }) => !ended));
});

test('the limits are integer settings, and a peer gets at most half by default', () => {
  const read = (environment: Record<string, string>) => readConfig(environment).connections;
  assert.deepEqual(read({ MAX_CONNECTIONS: '100' }), { total: 100, perPeer: 50 });
  assert.deepEqual(read({ MAX_CONNECTIONS: '100', MAX_CONNECTIONS_PER_PEER: '100' }), {
    total: 100,
    perPeer: 100,
  });
  for (const wrong of ['0', '-1', '1.5', 'many'])
    assert.throws(() => read({ MAX_CONNECTIONS: wrong }), OperatorError);
});
