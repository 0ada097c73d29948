import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { policies } from '../../src/base/fairness/policies.ts';
import { createLog } from '../../src/base/values/log.ts';
import { createHttp } from '../../src/host/http/create-http.ts';
import { testRoute } from '../support/test-route.ts';
import { waitFor } from '../support/wait-for.ts';

/** Linux has all of 127.0.0.0/8 on its loopback. */
const onLinux = { skip: process.platform === 'linux' ? false : 'needs 127.0.0.2' };

/** More than the kernel keeps for a client that doesn't read. */
const large = Buffer.alloc(8 * 1_024 * 1_024, 'x');
const memoryShare = 1 / 2;
const total = policies.unsentResponses.total * memoryShare;
const reserve = policies.unsentResponses.reserve * memoryShare;

const http = createHttp({
  log: createLog('silent'),
  trustProxy: [],
  routes: [testRoute('GET', '/large')],
  connections: { total: 1_000, perPeer: 500 },
  memoryShare,
});
http.get('/large', async (_request, reply) => reply.type('text/plain').send(large));
await http.listen({ host: '127.0.0.1', port: 0 });
after(() => http.close());
const { port } = http.server.address() as AddressInfo;
const { unsentResponses } = http;

/** Asks for the large response and reads nothing of it. */
async function stall(localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  return socket;
}

/** Reads the whole response. */
async function read(localAddress: string): Promise<{ status: number; bytes: number }> {
  const outgoing = request({ port, host: '127.0.0.1', localAddress, path: '/large', agent: false });
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return { status: response.statusCode, bytes };
}

test(
  'ASVS 4.0.3 11.1.4: responses that nobody reads fill a budget, not the memory, and other networks are served',
  onLinux,
  async (t) => {
    t.mock.method(performance, 'now', () => 0);
    const stalled: Socket[] = [];
    for (let at = 0; at < 20; at += 1) stalled.push(await stall('127.0.1.1'));
    await waitFor('the budget', () => unsentResponses.bytes === total - reserve);
    assert.equal((await read('127.0.1.1')).status, 503);
    assert.deepEqual(await read('127.0.2.1'), { status: 200, bytes: large.length });
    // With the reserve in use, too, the network with most makes room.
    stalled.push(await stall('127.0.2.1'), await stall('127.0.2.1'));
    await waitFor('the reserve', () => unsentResponses.bytes === total);
    assert.deepEqual(await read('127.0.3.1'), { status: 200, bytes: large.length });
    assert.ok(unsentResponses.bytes <= total);
    for (const socket of stalled) socket.destroy();
    await waitFor('memory', () => unsentResponses.bytes === 0);
  },
);

test(
  'ASVS 4.0.3 11.1.4: a response of which a client reads nothing for a minute ends',
  onLinux,
  async (t) => {
    const socket = await stall('127.0.4.1');
    await waitFor('the response', () => unsentResponses.bytes > 0);
    const now = performance.now.bind(performance);
    let later = 0;
    t.mock.method(performance, 'now', () => now() + later);
    await waitFor('the end of the response', () => {
      later += 61_000;
      return unsentResponses.bytes === 0;
    });
    socket.destroy();
  },
);
