import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { createLog } from '../../../src/base/values/log.ts';
import type { InboxMessageId, IncomingMail } from '../../../src/sending/inbox/inbox-message.ts';
import { InboxStore } from '../../../src/sending/inbox/inbox-store.ts';
import { maxMailBytes, startInboxServer } from '../../../src/sending/inbox/start-inbox-server.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();
const store = new InboxStore(database);
const log = createLog('silent');
const arrivals = { announce: () => undefined };
const everything = { to: undefined, since: undefined };

let storeError: Error | undefined;
const server = await startInboxServer({
  store: {
    add(mail: IncomingMail): Promise<InboxMessageId> {
      return storeError === undefined ? store.add(mail) : Promise.reject(storeError);
    },
    trim: () => store.trim(),
  },
  arrivals,
  log,
});
after(() => server.stop());

/** A client that sends the given lines and returns the last line of each reply. */
async function openSession(port = server.port) {
  const socket = connect(port, '127.0.0.1');
  // A server that ends a session may reset the connection; its earlier replies still count.
  socket.on('error', () => undefined);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const replies: string[] = [];
  const reply = async (): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) return '(closed)';
      replies.push(value);
      if (/^\d{3} /.test(value)) return value;
    }
  };
  const say = (text: string): Promise<string> => {
    socket.write(`${text}\r\n`);
    return reply();
  };
  await reply();
  return { say, replies, socket, close: () => socket.destroy() };
}

async function deliver(message: string, recipient = 'reader@example.test'): Promise<string> {
  const session = await openSession();
  await session.say('EHLO client.test');
  await session.say('MAIL FROM:<>');
  await session.say(`RCPT TO:<${recipient}>`);
  await session.say('DATA');
  const response = await session.say(`${message}\r\n.`);
  session.close();
  return response;
}

test('it listens on the loopback only and announces its capabilities', async () => {
  assert.equal(server.host, '127.0.0.1');
  const session = await openSession();
  await session.say('EHLO client.test');
  const said = session.replies.join('\n');
  assert.match(said, new RegExp(`SIZE ${maxMailBytes}`));
  assert.match(said, /8BITMIME/);
  assert.match(said, /SMTPUTF8/);
  assert.doesNotMatch(said, /AUTH|STARTTLS/);
  session.close();
});

test('250 means that the message is committed byte for byte, including from the null sender', async () => {
  await store.remove(everything);
  assert.match(await deliver('Subject: kept\r\n\r\n..dots\r\n'), /^250 2\.6\.0 /);
  const [message] = await store.find(everything, 1);
  assert.equal(message?.envelopeFrom, '');
  assert.equal(message?.source.toString(), 'Subject: kept\r\n\r\n.dots\r\n\r\n');
});

test('while the database is down, the reply is 451 so that the sender retries, and the next message is stored', async () => {
  for (const code of ['ECONNREFUSED', '57P01', '53100', undefined]) {
    storeError = Object.assign(new Error('away'), { code });
    assert.match(await deliver('Subject: x\r\n\r\nx'), /^451 4\.\d\.\d /, String(code));
  }
  storeError = undefined;
  assert.match(await deliver('Subject: x\r\n\r\nx'), /^250 /);
});

test('a message that is too large gets a 552, announced or not', async () => {
  const session = await openSession();
  await session.say('EHLO client.test');
  assert.match(await session.say(`MAIL FROM:<a@b.test> SIZE=${maxMailBytes + 1}`), /^552 /);
  session.close();
  const line = `${'x'.repeat(998)}\r\n`;
  const body = line.repeat(Math.ceil((maxMailBytes + 1) / line.length));
  const before = (await store.listAfter('', undefined, 10)).length;
  assert.match(await deliver(`Subject: large\r\n\r\n${body}`), /^552 5\.3\.4 /);
  assert.equal((await store.listAfter('', undefined, 10)).length, before);
});

test('malformed input is stored unchanged', async () => {
  await store.remove(everything);
  for (const body of [
    '',
    '\0\u0001\u00ff',
    'no header here',
    'Content-Type: multipart/mixed\r\n\r\n',
  ])
    assert.match(await deliver(body), /^250 /, body);
  assert.equal((await store.listAfter('', undefined, 10)).length, 4);
});

test("a page that posts to the port can't plant a message", async () => {
  const session = await openSession();
  const response = await session.say('POST / HTTP/1.1');
  assert.match(response, /^421 /);
  session.close();
});

test('recipients over the limit are rejected one by one', async () => {
  const session = await openSession();
  await session.say('EHLO client.test');
  await session.say('MAIL FROM:<a@b.test>');
  for (let count = 0; count < 1_000; count += 1) await session.say(`RCPT TO:<r${count}@b.test>`);
  assert.match(await session.say('RCPT TO:<one-more@b.test>'), /^452 /);
  session.close();
});

test('stopping ends idle sessions', async () => {
  const other = await startInboxServer({ store, arrivals, log });
  const session = await openSession(other.port);
  const closed = once(session.socket, 'close');
  session.socket.resume();
  await other.stop();
  await closed;
});

test('a port in use is an error', async () => {
  await assert.rejects(startInboxServer({ store, arrivals, log, port: server.port }), {
    code: 'EADDRINUSE',
  });
});
