import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { ClientHttp2Session } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { openHttp2, requestHttp2 } from '../../support/http2-client.ts';
import { logIntoLines } from '../../support/log-into-lines.ts';
import { testRoute } from '../../support/test-route.ts';
import { startTlsServer } from '../../support/tls-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const routes = [testRoute('GET', '/*'), testRoute('POST', '/*')];

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
      http.post('/refuse', { bodyLimit: 10 }, async () => 'ok');
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

/** A request over HTTP/1.1. */
async function get1(
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

test('the port speaks HTTP/2 and HTTP/1.1, and tells the client to use nothing but https', async () => {
  const session = await openHttp2(server.url, server.authority.ca);
  const two = await requestHttp2(session, { ':path': '/' });
  assert.equal(two.status, 200);
  assert.equal(two.headers['strict-transport-security'], 'max-age=31536000');
  assert.match(String(two.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  const expected = { protocol: 'https', address: '127.0.0.1', host: `localhost:${server.port}` };
  assert.deepEqual(JSON.parse(two.text), { version: '2.0', ...expected });
  const one = await get1(server, '/');
  assert.equal(one.headers['strict-transport-security'], 'max-age=31536000');
  assert.deepEqual(JSON.parse(one.text), { version: '1.1', ...expected });
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
  await get1(server, '/', agent);
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
  assert.equal((await get1(server, '/', agent)).statusCode, 200);
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

test('an event stream arrives piece by piece over HTTP/2', async () => {
  const session = await openHttp2(server.url, server.authority.ca);
  const stream = session.request({ ':path': '/events' });
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    server.stream.write(event);
    await waitFor('the event', () => text.endsWith(event));
  }
  const closed = once(server.stream, 'close');
  stream.close();
  await closed;
});

test('a body that is refused ends its stream, and the connection serves the next request', async () => {
  const session = await openHttp2(server.url, server.authority.ca);
  const headers = { ':path': '/refuse', ':method': 'POST', 'content-type': 'application/json' };
  const refused = session.request({ ...headers, 'content-length': String(64 * 1024 * 1024) });
  const [response] = await once(refused, 'response');
  assert.equal(response[':status'], 413);
  assert.equal(response.connection, undefined);
  refused.resume();
  await once(refused, 'close');
  assert.equal(refused.rstCode, 0);
  assert.equal((await requestHttp2(session, { ':path': '/' })).status, 200);
});

test('while the node drains, each HTTP/2 connection that brings a request is told to go away, and a request without a response can be repeated (RFC 9113 section 8.7)', async () => {
  const own = await startServer();
  const session = await openHttp2(own.url, own.authority.ca);
  const goneAway = once(session, 'goaway');
  own.http.draining.begin();
  const responses = await Promise.allSettled(
    Array.from({ length: 20 }, () => requestHttp2(session, { ':path': '/' })),
  );
  const [code] = await goneAway;
  assert.equal(code, 0);
  assert.equal(responses[0]?.status, 'fulfilled');
  for (const response of responses)
    if (response.status === 'rejected')
      assert.match(String(response.reason), /REFUSED_STREAM|GOAWAY/);
  const one = await get1(own, '/', new Agent({ keepAlive: true }));
  assert.equal(one.headers.connection, 'close');
});

test('closing completes the requests in progress of both versions, and waits for no idle connection', async () => {
  const own = await startServer();
  const session = await openHttp2(own.url, own.authority.ca);
  const idle = await openHttp2(own.url, own.authority.ca);
  const silent = connectTls(own.tls);
  silent.on('error', () => undefined);
  await once(silent.resume(), 'secureConnect');
  const handshake = connectTcp(own.port, '127.0.0.1');
  handshake.on('error', () => undefined);
  await once(handshake.resume(), 'connect');
  // The beginning of a ClientHello.
  handshake.write(Buffer.from([22, 3, 1, 2, 0]));
  const responses = [
    requestHttp2(session, { ':path': '/slow' }),
    get1(own, '/slow', new Agent({ keepAlive: true })),
  ] as const;
  await waitFor('the requests', () => own.waiting() === 2);
  const started = performance.now();
  const closing = own.http.close();
  await once(idle, 'close');
  own.release();
  const [two, one] = await Promise.all(responses);
  assert.equal(two.status, 200);
  assert.equal(one.statusCode, 200);
  await closing;
  assert.ok(performance.now() - started < 5_000);
});

test('1,000 idle connections are held and closed with the server', async () => {
  const own = await startServer({ connections: { total: 2_000, perPeer: 1_500 } });
  const sessions: ClientHttp2Session[] = [];
  for (let at = 0; at < 1_000; at += 50)
    sessions.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, () => openHttp2(own.url, own.authority.ca)),
      )),
    );
  assert.ok(sessions.every(({ destroyed }) => !destroyed));
  const [last] = sessions;
  assert.ok(last);
  assert.equal((await requestHttp2(last, { ':path': '/' })).status, 200);
  await own.http.close();
  await waitFor('the end of all', () => sessions.every(({ destroyed }) => destroyed));
});

test('ASVS 4.0.3 11.1.4: idle connections and unfinished handshakes make room, and busy ones of both versions stay', async () => {
  const own = await startServer({ connections: { total: 100, perPeer: 4 } });
  const busy = await openHttp2(own.url, own.authority.ca);
  const slow = [
    requestHttp2(busy, { ':path': '/slow' }),
    get1(own, '/slow', new Agent({ keepAlive: true })),
  ] as const;
  await waitFor('the requests', () => own.waiting() === 2);
  const others = Array.from({ length: 20 }, () => {
    const socket = connectTcp(own.port, '127.0.0.1').resume();
    socket.on('error', () => undefined);
    return socket;
  });
  await waitFor('the limit', () => others.filter(({ closed }) => !closed).length === 2);
  for (let at = 0; at < 5; at += 1) {
    const idle = await openHttp2(own.url, own.authority.ca);
    assert.equal((await requestHttp2(idle, { ':path': '/' })).status, 200);
  }
  own.release();
  const [two, one] = await Promise.all(slow);
  assert.equal(two.status, 200);
  assert.equal(one.statusCode, 200);
});
