import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import { HostNames } from '../../../src/base/dns/host-names.ts';
import { PublicNetworks } from '../../../src/base/network/public-networks.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { postWebhook, WebhookConnection } from '../../../src/outcomes/webhook/post-webhook.ts';
import { TestDns } from '../../support/test-dns.ts';

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
const zones = await new TestDns().start();
const dns = new DnsClient([parseDnsServer(zones.server)], { rounds: 1 });
const hostNames = new HostNames(dns, systemClock);

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
  'interim responses without end': [
    (socket) => {
      const send = (): boolean =>
        socket.write('HTTP/1.1 100 C\r\n\r\n'.repeat(1_000)) && socket.writable;
      socket.on('drain', send);
      send();
    },
    0,
    /too many interim responses/,
  ],
  'a connection that ends without a status': [(socket) => socket.destroy(), 0, /socket hang up/],
};

for (const [name, [response, status, text]] of Object.entries(cases))
  test(`the status of a response counts, whatever follows: ${name}`, async () => {
    respond = response;
    const exchange = await postWebhook(`http://127.0.0.1:${port}/`, {}, '{}', networks, hostNames);
    assert.equal(exchange.status, status);
    assert.match(exchange.text, text);
    assert.ok(exchange.durationMs < 5_000);
  });

test('50 endpoints whose DNS server never answers don’t delay the lookup of another endpoint', async () => {
  respond = (socket) => socket.destroy();
  zones.set('hook.test', { A: ['127.0.0.1'] });
  let ended = 0;
  const silent = Array.from({ length: 50 }, async (_, index) => {
    zones.set(`hook${index}.silent.test`, { fault: 'silent' });
    const url = `https://hook${index}.silent.test/`;
    const exchange = await postWebhook(url, {}, '{}', networks, hostNames);
    ended += 1;
    return exchange;
  });
  const { text } = await postWebhook(`https://hook.test:${port}/`, {}, '{}', networks, hostNames);
  // It was connected to, but speaks no TLS.
  assert.match(text, /disconnected before secure TLS connection|ECONNRESET/);
  assert.equal(ended, 0);
  for (const exchange of await Promise.all(silent)) {
    assert.equal(exchange.status, 0);
    assert.match(
      exchange.text,
      /^the DNS lookup of hook\d+\.silent\.test failed: no answer in time$/,
    );
  }
});

test('requests of a connection share it, and one that the server has closed meanwhile is replaced', async () => {
  let connections = 0;
  const answers = ['keep', 'close', 'keep', 'keep'];
  const counted = createHttpServer((request, response) => {
    request.resume();
    response.end('ok');
    // Without announcing it: as a server does whose idle connections time out.
    if (answers.shift() === 'close') response.once('close', () => request.socket.destroy());
  });
  counted.on('connection', () => {
    connections += 1;
  });
  counted.listen(0, '127.0.0.1');
  await once(counted, 'listening');
  const url = `http://127.0.0.1:${(counted.address() as AddressInfo).port}/`;
  const statuses: number[] = [];
  {
    using connection = new WebhookConnection();
    for (let count = 0; count < 4; count += 1) {
      const exchange = await postWebhook(url, {}, '{}', networks, hostNames, connection);
      statuses.push(exchange.status);
    }
  }
  assert.deepEqual(statuses, [200, 200, 200, 200]);
  assert.equal(connections, 2);
  // Ends only if the connection was closed.
  counted.close();
  await once(counted, 'close');
});
