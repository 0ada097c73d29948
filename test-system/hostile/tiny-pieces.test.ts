import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { SMTPServerDataStream } from 'smtp-server';
import { policies } from '../../src/base/fairness/policies.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import { createHttp } from '../../src/host/http/create-http.ts';
import { mebibyte } from '../../src/host/http/limits/route-limits.ts';
import { FeedbackMailReceiver } from '../../src/outcomes/bounce/receive-feedback-mail.ts';
import { MessageReceiver } from '../../src/sending/smtp-submission/receive-message.ts';
import { openRawRequest } from '../../test/support/raw-connection.ts';
import { testRoute } from '../../test/support/test-route.ts';
import { waitFor } from '../../test/support/wait-for.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that the process uses for objects and Buffers. */
function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const chunks = 20_000;
const tinyChunks = '1\r\nx\r\n'.repeat(chunks);
const chunked = { 'transfer-encoding': 'chunked' };

const http = createHttp({
  log: createLog('silent'),
  trustProxy: [],
  routes: [
    testRoute('GET', '/waits'),
    testRoute('POST', '/parsed', { bodyBytes: mebibyte }),
    testRoute('POST', '/direct/*', { bodyBytes: mebibyte }),
  ],
});
after(() => http.close());
const released = Promise.withResolvers<void>();
after(() => released.resolve());
http.get('/waits', async () => {
  await released.promise;
  return 'done';
});
http.addContentTypeParser('text/plain', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
http.post('/parsed', (request) => String((request.body as Buffer).length));
let begin: (() => void) | undefined;
http.direct.post('/direct/', '/direct/*', async (exchange) => {
  await new Promise<void>((resolve) => {
    begin = resolve;
  });
  const body = await exchange.readBody();
  exchange.answer(200, 'unusable' in body ? body.unusable : String(body.length));
});
await http.listen({ host: '127.0.0.1', port: 0 });
const base = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`;

async function open(method: string, path: string, headers: Readonly<Record<string, string>>) {
  const requested = once(http.server, 'request') as Promise<[IncomingMessage]>;
  const talk = await openRawRequest(base, { method, path, headers });
  const [request] = await requested;
  return { talk, request };
}

test('ASVS 4.0.3 13.1.3: the body of a GET request takes no memory', async () => {
  const { talk, request } = await open('GET', '/waits', chunked);
  talk.socket.write(`${tinyChunks}0\r\n\r\n`);
  await waitFor('the end of the body', () => request.complete);
  assert.equal(request.readableLength, 0);
  talk.socket.destroy();
});

test('a connection whose GET request has a large body ends', async () => {
  const { talk } = await open('GET', '/waits', chunked);
  talk.socket.write('1\r\nx\r\n'.repeat(70_000));
  await talk.closed;
});

test('ASVS 4.0.3 13.1.3: tiny chunks that wait for a reader are few pieces', async () => {
  const { talk, request } = await open('POST', '/direct/1', chunked);
  talk.socket.write(`${tinyChunks}0\r\n\r\n`);
  await waitFor('the end of the body', () => request.complete);
  let pieces = 0;
  request.on('data', () => {
    pieces += 1;
  });
  begin?.();
  await waitFor('the response', () => talk.text().endsWith(String(chunks)));
  assert.ok(pieces < 200, `${pieces} pieces`);
  talk.socket.destroy();
});

test('a body in tiny chunks is parsed like any other', async () => {
  const { talk } = await open('POST', '/parsed', { ...chunked, 'content-type': 'text/plain' });
  talk.socket.write(`${tinyChunks}0\r\n\r\n`);
  await waitFor('the response', () => talk.text().endsWith(String(chunks)));
  talk.socket.destroy();
});

test('ASVS 4.0.3 13.1.3: a body that arrives byte by byte and isn’t read ends its connection', async () => {
  const { talk, request } = await open('POST', '/direct/1', { 'content-length': '10000' });
  for (let sent = 0; sent < 1_025; sent += 1) {
    assert.equal(request.destroyed, false);
    request.push(Buffer.of(0x20));
    await nextTurn();
  }
  await talk.closed;
  begin?.();
});

/** Lines of two dots, as `smtp-server` passes them on: each is a piece of its own. */
async function* dotLines(lines: number, atEnd: () => void): AsyncGenerator<Buffer> {
  for (let line = 0; line < lines; line += 1) yield Buffer.from('.\r\n');
  atEnd();
}

const lines = 300_000;
const mailBytes = lines * 3;

for (const [name, receive] of [
  [
    'bounces',
    (stream: AsyncIterable<Buffer>) =>
      new FeedbackMailReceiver(policies.receivedReports).receive(
        stream,
        ['a'],
        async ({ size }) => size,
      ),
  ],
  [
    'SMTP submission',
    (stream: AsyncIterable<Buffer>) =>
      new MessageReceiver().receive(
        stream as SMTPServerDataStream,
        { accountId: '1' as AccountId, maxBytes: 4 * mebibyte, announcedBytes: 0 },
        async ({ length }) => length,
      ),
  ],
] as const)
  test(`ASVS 4.0.3 13.1.3: the receiver of ${name} keeps short lines in about their size`, async () => {
    const before = usedBytes();
    let used = 0;
    const size = await receive(
      dotLines(lines, () => {
        used = usedBytes() - before;
      }),
    );
    assert.equal(size, mailBytes);
    // Kept one by one, they would take 35 MB.
    assert.ok(used < mailBytes + 8 * mebibyte, `${used} bytes for ${mailBytes}`);
  });
