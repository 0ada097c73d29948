import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { systemClock } from '../../src/base/values/clock.ts';
import { newId } from '../../src/base/values/ids.ts';
import { createHttp } from '../../src/host/http/create-http.ts';
import { startBounceServer } from '../../src/outcomes/bounce/start-bounce-server.ts';
import { ReturnPaths } from '../../src/sending/delivery/return-path.ts';
import type { InboxMessageId } from '../../src/sending/inbox/inbox-message.ts';
import { startInboxServer } from '../../src/sending/inbox/start-inbox-server.ts';
import { logIntoLines } from '../support/log-into-lines.ts';
import { testRoute } from '../support/test-route.ts';
import { testKey } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

// An error that nobody catches would end this process, and so fail these tests.

const { log, lines } = logIntoLines('debug');
const fault = (): never => {
  throw new Error('a fault of the service');
};

/** What a server says to a client that sends these lines, until the server ends the session. */
async function talk(port: number, commands: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  let sent = 0;
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
    const command = commands[sent];
    if (!/^\d{3} .*\r\n$/m.test(text) || command === undefined) return;
    sent += 1;
    socket.write(`${command}\r\n`);
  });
  await once(socket, 'close');
  return heard;
}

const mail = ['EHLO client.test', 'MAIL FROM:<>', 'RCPT TO:<x@bounces.test>'];

test('ASVS 4.0.3 7.4.1: a fault in a handler of the bounce server ends only the session', async () => {
  let faults = 0;
  const server = await startBounceServer({
    host: '127.0.0.1',
    port: 0,
    hostname: 'bounces.test',
    certificate: undefined,
    readReturnPath: (address) => new ReturnPaths(testKey).read(address),
    write: async () => undefined,
    replies: { find: async () => fault(), store: async () => fault() },
    countReply: () => {
      faults += 1;
      fault();
    },
    memoryShare: 1,
    clock: systemClock,
    log,
  });
  after(() => server.stop());
  // The promise of a handler is rejected, since the error that it reports can't be counted.
  assert.match(await talk(server.port, mail), /\r\n421 4\.3\.0 Internal error/);
  assert.match(await talk(server.port, mail), /\r\n421 4\.3\.0 Internal error/);
  assert.equal(faults, 2);
});

test('ASVS 4.0.3 7.4.1: so does one in the inbox server, which the sender can retry', async () => {
  const server = await startInboxServer({
    store: { add: async () => newId() as InboxMessageId, trim: async () => undefined },
    arrivals: { announce: fault },
    log,
  });
  after(() => server.stop());
  const said = await talk(server.port, [...mail, 'DATA', 'Subject: x\r\n\r\nx\r\n.', 'QUIT']);
  assert.match(said, /\r\n451 /);
});

const routes = [testRoute('POST', '/direct/*'), testRoute('POST', '/upload')];

test('ASVS 4.0.3 7.4.1: a fault in a listener of the HTTP server ends only the request', async () => {
  const http = createHttp({ log, trustProxy: [], routes });
  after(() => http.close());
  http.direct.post('/direct/', 'direct', (() => fault()) as never);
  let isFaulty = false;
  http.server.on('connection', () => isFaulty && fault());
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  await assert.rejects(fetch(`${url}/direct/x`, { method: 'POST' }));
  isFaulty = true;
  await assert.rejects(fetch(`${url}/unknown`, { headers: { connection: 'close' } }));
  isFaulty = false;
  assert.equal((await fetch(`${url}/unknown`)).status, 404);
});

test('ASVS 4.0.3 7.1.1: an upload that its client resets is no error, and logged without a stack', async () => {
  const http = createHttp({ log, trustProxy: [], routes });
  after(() => http.close());
  http.addContentTypeParser('application/octet-stream', (_request, payload, done) =>
    done(null, payload),
  );
  const began = Promise.withResolvers<void>();
  http.post('/upload', async (request) => {
    began.resolve();
    for await (const _ of request.body as AsyncIterable<Buffer>);
  });
  const url = new URL(await http.listen({ host: '127.0.0.1', port: 0 }));
  const before = lines.length;
  const socket = connect(Number(url.port), url.hostname);
  socket.write(
    'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nContent-Length: 9999\r\n\r\nxx',
  );
  await began.promise;
  socket.resetAndDestroy();
  const line = await waitFor('the line', () =>
    lines.slice(before).find(({ msg }) => /the client left/.test(String(msg))),
  );
  assert.equal(line.level, 20);
  assert.equal(line.err, undefined);
  assert.deepEqual(
    lines.slice(before).filter(({ level }) => Number(level) >= 40),
    [],
  );
});
