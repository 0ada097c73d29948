import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { logIntoLines } from '../../../support/log-into-lines.ts';
import { testRoute } from '../../../support/test-route.ts';
import { startTlsServer } from '../../../support/tls-server.ts';
import { waitFor } from '../../../support/wait-for.ts';

const routes = [testRoute('GET', '/*')];

/** A server with routes that respond at once, when they are let, and in pieces. */
async function startServer(options: Partial<Parameters<typeof startTlsServer>[0]> = {}) {
  const gate = Promise.withResolvers<void>();
  const stream = new PassThrough();
  let waiting = 0;
  const { log, lines } = logIntoLines('info');
  const server = await startTlsServer(
    { routes, ...options },
    (http) => {
      http.get('/', async (request) => ({
        version: request.raw.httpVersion,
        protocol: request.protocol,
        address: request.ip,
        host: request.headers.host,
      }));
      http.get('/slow', async () => {
        waiting += 1;
        await gate.promise;
        return { answered: true };
      });
      http.get('/events', (_request, reply) => reply.type('text/event-stream').send(stream));
    },
    log,
  );
  const tls = {
    port: server.port,
    host: '127.0.0.1',
    ca: server.authority.ca,
    servername: 'localhost',
  };
  return { ...server, tls, lines, stream, release: gate.resolve, waiting: () => waiting };
}

async function get(
  { port, authority }: { port: number; authority: { ca: string } },
  path: string,
  agent = new Agent({ keepAlive: false }),
): Promise<IncomingMessage & { text: string }> {
  const outgoing = request({ port, host: 'localhost', path, ca: authority.ca, agent });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return Object.assign(response, { text });
}

const server = await startServer();

test('the port speaks HTTP/1.1 to clients that offer HTTP/2, too, and tells them to use nothing but https', async () => {
  const socket = connectTls({ ...server.tls, ALPNProtocols: ['h2', 'http/1.1'] });
  await once(socket, 'secureConnect');
  assert.equal(socket.alpnProtocol, 'http/1.1');
  socket.destroy();
  const expected = { protocol: 'https', address: '127.0.0.1', host: `localhost:${server.port}` };
  const response = await get(server, '/');
  assert.equal(response.headers['strict-transport-security'], 'max-age=31536000');
  assert.match(String(response.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.deepEqual(JSON.parse(response.text), { version: '1.1', ...expected });
});

test('a malformed HTTP/1.1 request gets its error over TLS', async () => {
  const socket = connectTls(server.tls);
  await once(socket, 'secureConnect');
  socket.write('NONSENSE\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  assert.match(chunk.toString(), /^HTTP\/1\.1 400 [\s\S]*"requestId"/);
  socket.destroy();
});

test('a replaced certificate is used for new connections, and open ones stay', async () => {
  const agent = new Agent({ keepAlive: true });
  await get(server, '/', agent);
  const next = server.authority.issue(['localhost'], 77);
  writeFileSync(server.files.key.path, next.key);
  writeFileSync(server.files.cert.path, next.cert);
  const serial = async (): Promise<string> => {
    const socket = connectTls(server.tls);
    await once(socket, 'secureConnect');
    const { validTo = '' } = socket.getPeerX509Certificate() ?? {};
    socket.destroy();
    return validTo;
  };
  const before = await serial();
  await waitFor('the new certificate', async () => (await serial()) !== before);
  assert.equal((await get(server, '/', agent)).statusCode, 200);
  agent.destroy();
});

test('after a reload, old protocol versions are still refused', async () => {
  const socket = connectTls({
    ...server.tls,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL@SECLEVEL=0',
  });
  await once(socket, 'error');
});

test('an event stream arrives piece by piece', async () => {
  const outgoing = request({ ...server.tls, path: '/events' });
  outgoing.end();
  server.stream.write(':\n\n');
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  response.on('error', () => undefined);
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    server.stream.write(event);
    await waitFor('the event', () => text.endsWith(event));
  }
  const closed = once(server.stream, 'close');
  response.destroy();
  await closed;
});

test('closing completes the requests in progress, and waits for no idle connection', async () => {
  const own = await startServer();
  const silent = connectTls(own.tls);
  silent.on('error', () => undefined);
  await once(silent.resume(), 'secureConnect');
  const handshake = connectTcp(own.port, '127.0.0.1');
  handshake.on('error', () => undefined);
  await once(handshake.resume(), 'connect');
  // The beginning of a ClientHello.
  handshake.write(Buffer.from([22, 3, 1, 2, 0]));
  const response = get(own, '/slow', new Agent({ keepAlive: true }));
  await waitFor('the request', () => own.waiting() === 1);
  const started = performance.now();
  const closing = own.http.close();
  await once(silent, 'close');
  own.release();
  assert.equal((await response).statusCode, 200);
  await closing;
  assert.ok(performance.now() - started < 5_000);
});

test('300 idle connections are held and closed with the server', async () => {
  const own = await startServer({ connections: { total: 2_000, perPeer: 1_500 } });
  const sockets: TLSSocket[] = [];
  for (let at = 0; at < 300; at += 50) {
    const next = Array.from({ length: 50 }, () => connectTls(own.tls).resume());
    for (const socket of next) socket.on('error', () => undefined);
    await Promise.all(next.map((socket) => once(socket, 'secureConnect')));
    for (const socket of next) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitFor('the answers', () => next.every(({ bytesRead }) => bytesRead > 0));
    sockets.push(...next);
  }
  assert.ok(sockets.every(({ destroyed }) => !destroyed));
  await own.http.close();
  await waitFor('the end of all', () => sockets.every(({ destroyed }) => destroyed));
});

test('ASVS 4.0.3 11.1.4: idle connections and unfinished handshakes make room, and busy ones stay', async () => {
  const own = await startServer({ connections: { total: 100, perPeer: 4 } });
  const agent = new Agent({ keepAlive: true });
  const slow = [get(own, '/slow', agent), get(own, '/slow', agent)] as const;
  await waitFor('the requests', () => own.waiting() === 2);
  const others = Array.from({ length: 20 }, () => {
    const socket = connectTcp(own.port, '127.0.0.1').resume();
    socket.on('error', () => undefined);
    return socket;
  });
  await waitFor('the limit', () => others.filter(({ closed }) => !closed).length === 2);
  for (let at = 0; at < 5; at += 1)
    assert.equal((await get(own, '/', new Agent({ keepAlive: true }))).statusCode, 200);
  own.release();
  for (const response of slow) assert.equal((await response).statusCode, 200);
});
