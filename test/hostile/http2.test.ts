import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import {
  endHeaders,
  endStream,
  frame,
  frameType,
  headerBlock,
  lastKeptField,
  openRawHttp2,
  pseudoFields,
  uint32,
} from '../support/raw-http2.ts';
import { testRoute } from '../support/test-route.ts';
import { startTlsServer } from '../support/tls-server.ts';
import { waitFor } from '../support/wait-for.ts';

let begun = 0;
let inProgress = 0;
let mostInProgress = 0;
let openResponses = 0;
let fields = 0;
const bodies: string[] = [];
const gate = Promise.withResolvers<void>();

const { port, authority, http } = await startTlsServer(
  { routes: [testRoute('GET', '/*'), testRoute('POST', '/*')] },
  (server) => {
    server.get('/', async (request) => {
      begun += 1;
      fields = Math.max(fields, request.raw.rawHeaders.length / 2);
      return 'fast';
    });
    server.get('/slow', async () => {
      inProgress += 1;
      mostInProgress = Math.max(mostInProgress, inProgress);
      await gate.promise;
      inProgress -= 1;
      return 'slow';
    });
    server.addHook('onRequest', async (request, reply) => {
      if (request.url !== '/large' && request.url !== '/endless') return;
      openResponses += 1;
      reply.raw.once('close', () => {
        openResponses -= 1;
      });
    });
    server.get('/large', async () => 'x'.repeat(2 ** 20));
    server.get('/endless', async (_request, reply) => {
      const more = Buffer.alloc(16_384);
      return reply.send(
        new Readable({
          read() {
            this.push(more);
          },
        }),
      );
    });
    server.post('/body', async (request) => {
      bodies.push(JSON.stringify(request.body));
      return 'ok';
    });
  },
);

const { headers, reset, data, continuation, windowUpdate, ping } = frameType;
const get = headerBlock(pseudoFields('/'));
const cancel = uint32(8);
const enhanceYourCalm = 11;

const tlsOptions = { port, host: '127.0.0.1', ca: authority.ca, servername: 'localhost' };
const open = (options = {}) => openRawHttp2(port, authority.ca, options);

/** Ids of the streams that a client begins. */
function* streamIds(): Generator<number, number> {
  for (let id = 1; ; id += 2) yield id;
}

test('RFC 9113 section 10.5: requests that are canceled in the same moment end the connection (CVE-2023-44487)', async () => {
  const client = await open();
  const before = begun;
  const ids = streamIds();
  const batch = Array.from({ length: 20_000 }, () => {
    const id = ids.next().value;
    return [frame(headers, endHeaders | endStream, id, get), frame(reset, 0, id, cancel)];
  });
  client.write(...batch.flat());
  await waitFor('the end of the connection', () => client.isClosed());
  assert.ok(begun - before <= 201, `${begun - before} of 20000 were begun`);
});

for (const code of [0, 8])
  test(`RFC 9113 section 10.5: requests that are canceled in small numbers, with code ${code}, end the connection once they are many`, async () => {
    const client = await open();
    const ids = streamIds();
    const slow = headerBlock(pseudoFields('/slow'));
    for (let round = 1; round <= 20 && !client.isClosed(); round += 1) {
      const batch = Array.from({ length: 50 }, () => {
        const id = ids.next().value;
        return [
          frame(headers, endHeaders | endStream, id, slow),
          frame(reset, 0, id, uint32(code)),
        ];
      });
      client.write(...batch.flat(), frame(ping, 0, 0, Buffer.alloc(8)));
      const pings = () => client.frames.filter(({ type }) => type === ping).length;
      await waitFor('the server to catch up', () => client.isClosed() || pings() === round);
    }
    await waitFor('the end of the connection', () => client.isClosed());
    assert.equal(client.goAwayCode(), enhanceYourCalm);
  });

test('RFC 9113 section 10.5: requests that the server must reset end the connection (CVE-2025-8671)', async () => {
  const client = await open();
  const before = begun;
  const ids = streamIds();
  const batch = Array.from({ length: 20_000 }, () => {
    const id = ids.next().value;
    return [frame(headers, endHeaders, id, get), frame(windowUpdate, 0, id, uint32(0))];
  });
  client.write(...batch.flat());
  await waitFor('the end of the connection', () => client.isClosed());
  assert.ok(begun - before <= 201, `${begun - before} of 20000 were begun`);
});

test('RFC 9113 section 6.4: a response ends with its stream, whatever code the client resets it with', async () => {
  const client = await open();
  const ids = streamIds();
  for (const path of ['/endless', '/large'])
    for (const code of [0, 0, 8, 0, 2, 0]) {
      client.write(frame(windowUpdate, 0, 0, uint32(2 ** 20)));
      const id = ids.next().value;
      client.write(frame(headers, endHeaders | endStream, id, headerBlock(pseudoFields(path))));
      const isSent = ({ type, streamId }: { type: number; streamId: number }) =>
        type === data && streamId === id;
      await waitFor('the response', () => client.frames.some(isSent));
      client.write(frame(reset, 0, id, uint32(code)));
    }
  await waitFor('the end of all responses', () => openResponses === 0);
  assert.ok(!client.isClosed());
  client.socket.destroy();
});

test('RFC 9113 section 5.1.2: a connection has at most 100 requests in progress', async () => {
  const client = await open();
  const ids = streamIds();
  const slow = headerBlock(pseudoFields('/slow'));
  inProgress = 0;
  mostInProgress = 0;
  const requests = Array.from({ length: 300 }, () =>
    frame(headers, endHeaders | endStream, ids.next().value, slow),
  );
  client.write(...requests);
  await waitFor(
    'the refusals',
    () => client.isClosed() || client.frames.filter(({ type }) => type === reset).length >= 100,
  );
  assert.ok(mostInProgress <= 100, `${mostInProgress} at once`);
  client.socket.destroy();
});

test('RFC 9113 section 10.5.1: endless CONTINUATION frames end the connection (CVE-2024-27983)', async () => {
  const client = await open();
  client.write(frame(headers, endStream, 1, get));
  const more = frame(continuation, 0, 1, headerBlock({ 'x-more': 'x'.repeat(1_000) }));
  for (let at = 0; at < 100; at += 1) client.write(more);
  await waitFor('the end of the connection', () => client.isClosed());
});

test('RFC 9113 section 10.5.1: header fields beyond 16 KiB reset the stream, and the connection stays', async () => {
  const client = await open();
  await waitFor('the settings', () =>
    client.frames.some(({ flags, type }) => type === 4 && flags === 1),
  );
  const before = begun;
  const large = {
    ...pseudoFields('/'),
    'x-large': 'x'.repeat(16_000),
    'x-more': 'x'.repeat(2_000),
  };
  const block = headerBlock(large);
  client.write(
    frame(headers, endStream, 1, block.subarray(0, 16_000)),
    frame(continuation, endHeaders, 1, block.subarray(16_000)),
    frame(headers, endHeaders | endStream, 3, get),
  );
  await waitFor('the next response', () =>
    client.frames.some(({ streamId, type }) => streamId === 3 && type === data),
  );
  assert.ok(client.frames.some(({ streamId, type }) => streamId === 1 && type === reset));
  assert.equal(begun, before + 1);
  client.socket.destroy();
});

test('RFC 7541 section 7.3: a small block that names a large field many times is refused, with or without the settings', async () => {
  for (const acknowledge of [true, false]) {
    const client = await open({ acknowledge });
    const kept = headerBlock({ 'x-bomb': 'x'.repeat(4_000) }, { indexed: true });
    const first = Buffer.concat([get, kept]);
    client.write(frame(headers, endHeaders | endStream, 1, first));
    await waitFor('the first response', () =>
      client.frames.some(({ streamId, type }) => streamId === 1 && type === data),
    );
    const before = begun;
    const bomb = Buffer.concat([get, ...Array.from({ length: 10_000 }, () => lastKeptField)]);
    client.write(frame(headers, endHeaders | endStream, 3, bomb));
    await waitFor(
      'the refusal',
      () =>
        client.isClosed() ||
        client.frames.some(({ streamId, type }) => streamId === 3 && type === reset),
    );
    assert.equal(begun, before);
    client.socket.destroy();
  }
  assert.ok(fields <= 128);
});

test('RFC 9113 section 10.5: floods of PING and SETTINGS that expect acknowledgments end a connection that reads none', async () => {
  const client = await open();
  client.socket.pause();
  const flood = Buffer.concat(
    Array.from({ length: 1_000 }, () => [
      frame(ping, 0, 0, Buffer.alloc(8)),
      frame(frameType.settings, 0, 0, Buffer.alloc(0)),
    ]).flat(),
  );
  const memory = process.memoryUsage().rss;
  for (let at = 0; at < 200 && !client.isClosed(); at += 1) {
    client.socket.write(flood);
    await new Promise((resolve) => setImmediate(resolve));
  }
  client.socket.resume();
  const grown = (process.memoryUsage().rss - memory) / 1024 / 1024;
  assert.ok(grown < 200, `${grown} MiB`);
  client.socket.destroy();
});

test('RFC 9113 section 8.1: a body whose stream is reset is not taken for a complete one', async () => {
  const client = await open();
  const post = headerBlock({
    ...pseudoFields('/body', 'POST'),
    'content-type': 'application/json',
  });
  client.write(
    frame(headers, endHeaders, 1, post),
    frame(data, 0, 1, Buffer.from('{"amount":1}')),
    frame(reset, 0, 1, cancel),
    frame(headers, endHeaders, 3, post),
    frame(data, endStream, 3, Buffer.from('{"amount":2}')),
  );
  await waitFor('the complete body', () => bodies.length > 0);
  assert.deepEqual(bodies, ['{"amount":2}']);
  client.socket.destroy();
});

test('RFC 9113 section 3.4: a client that chooses HTTP/2 and speaks HTTP/1.1 is disconnected', async () => {
  const socket = connectTls({ ...tlsOptions, ALPNProtocols: ['h2'] });
  socket.on('error', () => undefined);
  const closed = once(socket.resume(), 'close');
  await once(socket, 'secureConnect');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await closed;
});

test('a client that speaks plain HTTP to the port is disconnected', async () => {
  const socket = connectTcp(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket.resume(), 'close');
});

test('ASVS 4.0.3 9.1.3: TLS 1.1 is refused, and so is renegotiation', async () => {
  const old = connectTls({
    ...tlsOptions,
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
    ciphers: 'ALL@SECLEVEL=0',
  });
  const [error] = await once(old, 'error');
  assert.match(String(error), /alert protocol version|unsupported protocol|no protocols/i);
  const socket = connectTls({ ...tlsOptions, maxVersion: 'TLSv1.2' });
  await once(socket.resume(), 'secureConnect');
  const refused = once(socket, 'error');
  socket.renegotiate({}, () => undefined);
  assert.match(String((await refused)[0]), /renegotiation/i);
});

test('after all attacks, the server responds', async () => {
  gate.resolve();
  const client = await open();
  client.write(frame(headers, endHeaders | endStream, 1, get));
  await waitFor('the response', () => client.frames.some(({ type }) => type === data));
  client.socket.destroy();
  assert.ok(http.server.listening);
});
