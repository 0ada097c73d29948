import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { PublicNetworks } from '../../src/foundation/network/public-networks.ts';
import { postWebhook } from '../../src/webhook/post-webhook.ts';

/** What the endpoint responds to a request. */
let respond: (socket: Socket) => void = () => undefined;
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => respond(socket));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const { port } = server.address() as AddressInfo;
const networks = new PublicNetworks(['127.0.0.0/8']);

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const cases: Readonly<
  Record<string, [respond: (socket: Socket) => void, status: number, text: RegExp]>
> = {
  'a body that never ends': [(socket) => socket.write(`${chunked}2\r\nok\r\n`), 200, /^ok$/],
  'a body that floods': [
    (socket) => {
      socket.write(chunked);
      const send = (): boolean =>
        socket.write(`ffff\r\n${'a'.repeat(65_535)}\r\n`) && socket.writable;
      socket.on('drain', send);
      send();
    },
    200,
    /^a{1000}$/,
  ],
  'a body that is shorter than announced': [
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok'),
    200,
    /^ok$/,
  ],
  'a broken chunk': [(socket) => socket.write(`${chunked}2\r\nok\r\nxyz\r\n`), 200, /^ok$/],
  'a connection that is reset after the status': [
    (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n', () => socket.resetAndDestroy()),
    204,
    /^$/,
  ],
  'a rejection whose body never ends': [
    (socket) => socket.write(`${chunked.replace('200 OK', '503 No')}2\r\nno\r\n`),
    503,
    /^no$/,
  ],
  'a connection that ends without a status': [(socket) => socket.destroy(), 0, /socket hang up/],
};

for (const [name, [response, status, text]] of Object.entries(cases))
  test(`the status of a response counts, whatever follows: ${name}`, async () => {
    respond = response;
    const exchange = await postWebhook(`http://127.0.0.1:${port}/`, {}, '{}', networks);
    assert.equal(exchange.status, status);
    assert.match(exchange.text, text);
    assert.ok(exchange.durationMs < 5_000);
  });
