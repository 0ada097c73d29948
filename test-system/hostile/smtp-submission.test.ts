import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tlsHandshakeMs } from '../../src/base/network/smtp-session-limits.ts';
import { submissionSessionLimits } from '../../src/sending/smtp-submission/start-submission-server.ts';
import { addKey } from '../../test/support/api-key.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { openShop, saveShop } from '../../test/support/shop.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { openSubmissionShop, templateMail } from '../../test/support/submission-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const world = await openSubmissionShop({ SUBMISSION_HOST: '0.0.0.0' });
const { shop, port } = world;
const { database, clock } = shop;

async function countAll(): Promise<number> {
  const { rows } = await database.pool.query('select count(*)::int as count from message');
  return rows[0].count;
}

const smuggled = [
  'MAIL FROM:<orders@shop.test>',
  'RCPT TO:<victim@people.test>',
  'DATA',
  templateMail(),
  '.',
].join('\r\n');

/** Ends that only some servers take for the end of a message, because of a CR on its own or a NUL. */
const refusedEnds = ['\r.\r', '\r.\r\n', '\r\n.\r', '\r\n\0.\r\n'];

for (const end of refusedEnds)
  test(`RFC 5321 section 4.1.1.4: ${JSON.stringify(end)} neither ends a message nor is sent on`, async () => {
    const before = await countAll();
    const client = await world.login();
    await client.send('MAIL FROM:<orders@shop.test>', /^250 /);
    await client.send('RCPT TO:<one@people.test>', /^250 /);
    await client.send('DATA', /^354 /);
    client.socket.write(`${templateMail()}${end}${smuggled}\r\n`);
    assert.match(await client.reply(/^\d{3} /), /^554 5\.6\.0 The message has a CR on its own/);
    // The client and the server still agree where the next command begins.
    assert.match(await client.send('NOOP'), /^250 /);
    assert.equal(client.pending, '');
    assert.equal(await countAll(), before);
  });

/** Ends that only some servers take for the end of a message, because of an LF on its own. */
const mendedEnds = ['\n.\n', '\n.\r\n', '\r\n.\n', '\n..\r\n'];

for (const [at, end] of mendedEnds.entries())
  test(`RFC 5321 section 4.1.1.4: ${JSON.stringify(end)} doesn’t end a message`, async () => {
    const before = await countAll();
    const to = `mended-${at}@people.test`;
    const client = await world.login();
    await client.send('MAIL FROM:<orders@shop.test>', /^250 /);
    await client.send(`RCPT TO:<${to}>`, /^250 /);
    await client.send('DATA', /^354 /);
    client.socket.write(`From: orders@shop.test\nTo: ${to}\n\nHi${end}${smuggled}\r\n`);
    assert.match(await client.reply(/^\d{3} /), /^250 2\.6\.0 /);
    // The client and the server still agree where the next command begins.
    assert.match(await client.send('NOOP'), /^250 /);
    assert.equal(client.pending, '');
    assert.equal(await countAll(), before + 1);
    const [mail] = await readInbox(shop.service.url, `?to=${to}&wait=60`);
    assert.match(mail?.source ?? '', /\r\n\r\nHi\r\n\.?\r\nMAIL FROM:/);
    assert.doesNotMatch(mail?.source ?? '', /(?<!\r)\n/);
  });

test('a message in pieces of any size is read alike', async () => {
  const source = `${templateMail({ 'Order Number': '1' }, { 'X-Signalpost-Tag': 'pieces' })}\r\n.\r\n`;
  for (const size of [1, 2, 3, 5, 7]) {
    const client = await world.login();
    await client.send('MAIL FROM:<orders@shop.test>', /^250 /);
    await client.send('RCPT TO:<pieces@people.test>', /^250 /);
    await client.send('DATA', /^354 /);
    client.socket.setNoDelay(true);
    for (let at = 0; at < source.length; at += size) {
      client.socket.write(source.slice(at, at + size));
      if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(await client.reply(/^\d{3} /), /^250 /);
    await client.end();
  }
});

test('RFC 2920: commands sent at once get their replies in order', async () => {
  const client = await world.login();
  client.socket.write(
    `MAIL FROM:<a@shop.test>\r\nRCPT TO:<p1@people.test>\r\nRCPT TO:<bad>\r\nRCPT TO:<p2@people.test>\r\nDATA\r\n`,
  );
  for (const pattern of [/^250 2\.1\.0/, /^250 2\.1\.5/, /^501 5\.1\.3/, /^250 2\.1\.5/, /^354/])
    assert.match(await client.reply(/^\d{3} /), pattern);
  client.socket.write(`${templateMail()}\r\n.\r\nQUIT\r\n`);
  assert.match(await client.reply(/^\d{3} /), /^250 2\.6\.0/);
  assert.match(await client.reply(/^\d{3} /), /^221 /);
});

test('RFC 3207 section 4.2: commands sent in plain text after STARTTLS are not run', async () => {
  const client = await SmtpClient.open({ port, from: '127.0.0.9' });
  await client.greet();
  client.socket.write('STARTTLS\r\nEHLO smuggled.test\r\nAUTH PLAIN AAAA\r\n');
  await client.reply(/^220 /);
  // Nothing but TLS comes from now on.
  assert.doesNotMatch(client.pending, /250|AUTH/);
  await client.end();
});

test('RFC 5321 section 4.3.1: who talks before the greeting is sent away', async () => {
  const client = new SmtpClient({ port, from: '127.0.0.9' });
  client.socket.write('EHLO early.test\r\n');
  assert.match(await client.reply(/^\d{3} /), /^421 /);
  await waitFor('the end', () => client.closed);
});

test('a connection that breaks before the final dot leaves nothing', async () => {
  const before = await countAll();
  const client = await world.login();
  await client.send('MAIL FROM:<a@shop.test>', /^250 /);
  await client.send('RCPT TO:<half@people.test>', /^250 /);
  await client.send('DATA', /^354 /);
  client.socket.write(`${templateMail()}\r\n`);
  await client.end();
  const next = await world.login();
  assert.match(await next.submit(['whole@people.test'], templateMail()), /^250 /);
  assert.equal(await countAll(), before + 1);
});

const { firstIdleMs, sessions } = submissionSessionLimits;

/** Opens sessions without a login until one is refused; sessions of other tests count, too. */
async function fill(from: string): Promise<SmtpClient[]> {
  const held: SmtpClient[] = [];
  for (let isFull = false; !isFull; ) {
    const more = Array.from({ length: 100 }, () => new SmtpClient({ port, from }));
    const greetings = await Promise.all(more.map((client) => client.reply(/^\d{3} /)));
    held.push(...more.filter((_, at) => greetings[at]?.startsWith('220')));
    isFull = greetings.some((greeting) => greeting.startsWith('421 4.7.0 '));
  }
  return held;
}

/** Opens a session as soon as there is a place for it. */
function openFree(from: string): Promise<SmtpClient> {
  return waitFor('a free place', async () => {
    const client = new SmtpClient({ port, from });
    if ((await client.reply(/^\d/)).startsWith('220')) return client;
    await client.end();
    return undefined;
  });
}

test('ASVS 4.0.3 11.1.4: an address can hold most sessions, and ends some when others come', async () => {
  const held = await fill('127.0.0.7');
  assert.ok(held.length > sessions.total / 2 && held.length <= sessions.total - sessions.reserve);
  const others: SmtpClient[] = [];
  while (!held.some(({ closed }) => closed)) {
    const from = `127.0.${60 + (others.length % 100)}.1`;
    others.push(await SmtpClient.open({ port, from }));
  }
  assert.ok(others.length > sessions.reserve / 2, 'the reserve');
  await others.at(-1)?.send('EHLO other.test', /^250 /);
  // They have to log in within a minute.
  await clock.advance(firstIdleMs + 1_000);
  await waitFor('the end of all', () => [...held, ...others].every(({ closed }) => closed));
});

test('RFC 3207: a session with STARTTLS frees its place when it ends, or breaks in the handshake', async () => {
  const from = '127.0.0.9';
  const held = await fill(from);
  for (const client of held.splice(0, 5)) await client.end();
  for (let count = 0; count < 20; count += 1) {
    // The server may not have seen the end of the one before.
    const client = await openFree(from);
    await client.greet();
    if (count % 10 === 0) await client.send('STARTTLS', /^220 /);
    else await client.startTls();
    await client.end();
  }
  await (await openFree(from)).end();
  await clock.advance(firstIdleMs + 1_000);
  await waitFor('the end of all', () => held.every(({ closed }) => closed));
});

test('ASVS 4.0.3 11.1.4: who never finishes a TLS handshake holds the slots of its address, for seconds only', async () => {
  const { tlsPort } = world;
  const { total } = sessions;
  const held = Array.from(
    { length: total },
    () => new SmtpClient({ port: tlsPort, from: '127.0.50.1' }),
  );
  await waitFor('all connections', () => held.every(({ socket }) => !socket.connecting));
  // The first bytes of a handshake, and then no more.
  for (const { socket } of held) socket.write(Buffer.from([0x16, 3, 1]));
  await waitFor('a refusal', () => held.some(({ closed }) => closed));
  const other = await SmtpClient.open({ port: tlsPort, from: '127.0.51.1', tls: true });
  await clock.advance(tlsHandshakeMs + 1_000);
  await waitFor('the end of all', () => held.every(({ closed }) => closed));
  assert.match(await other.send('NOOP'), /^250 /);
  const again = await SmtpClient.open({ port: tlsPort, from: '127.0.50.1', tls: true });
  await again.greet();
  assert.match(await again.login('46100', world.key), /^235 /);
});

test('ASVS 4.0.3 11.1.4: the handshake of STARTTLS may take seconds only, the session after it longer', async () => {
  const stuck = await SmtpClient.open({ port, from: '127.0.50.2' });
  await stuck.greet();
  await stuck.send('STARTTLS', /^220 /);
  const done = await SmtpClient.open({ port, from: '127.0.50.2' });
  await done.greet();
  await done.startTls();
  await done.greet();
  await clock.advance(tlsHandshakeMs + 1_000);
  await waitFor('the end', () => stuck.closed);
  assert.match(await done.send('NOOP'), /^250 /);
});

test('RFC 1870: a message over the account’s limit is refused, at MAIL if its size is known', async () => {
  const id = '46600' as never;
  await openShop(database, { id });
  await saveShop(database, { id, attachmentLimit: 1024 ** 2 });
  const key = await addKey(database, id, { scopes: ['messages:send', 'messages:send-content'] });
  const client = await world.open();
  assert.match(await client.login(id, key), /^235 /);
  const tooLarge = /^552 5\.3\.4 Message too large: the limit is 1310720 bytes/;
  assert.match(await client.send('MAIL FROM:<a@shop.test> SIZE=2000000'), tooLarge);
  assert.match(await client.send('MAIL FROM:<a@shop.test> SIZE=99999999999'), /^552 5\.3\.4 /);
  const padding = `X-Padding: ${'x'.repeat(70)}\r\n`.repeat(25_000);
  assert.match(await client.submit(['a@people.test'], `${padding}${templateMail()}`), tooLarge);
  assert.match(await client.submit(['a@people.test'], templateMail()), /^250 /);
});

test('a thousand idle connections from many addresses don’t keep out a client that logs in', async () => {
  const idle: SmtpClient[] = [];
  for (let network = 20; idle.length < sessions.total; network += 1) {
    const from = `127.0.${network}.1`;
    const more = Array.from({ length: sessions.share }, () => new SmtpClient({ port, from }));
    // Sessions of other tests count, too, so that the last ones get none.
    await Promise.all(more.map((client) => client.reply(/^(?:220|421)/)));
    idle.push(...more);
  }
  const client = await SmtpClient.open({ port, from: '127.0.0.19' });
  await client.startTls();
  await client.greet();
  assert.match(await client.login('46100', world.key), /^235 /);
  assert.match(await client.submit(['busy@people.test'], templateMail()), /^250 /);
  await waitFor('the end of the oldest', () => idle.some(({ closed }) => closed));
  for (const other of idle) other.socket.destroy();
});

test('a message as large as the limit is received, and an endless one is refused at its end', async () => {
  const padding = `${'x'.repeat(76)}\r\n`.repeat(120_000);
  const head = 'From: orders@shop.test\r\nSubject: Large\r\n\r\n';
  const client = await world.login();
  assert.match(await client.submit(['large@people.test'], head + padding), /^250 2\.6\.0 /);
  assert.match(
    await client.submit(['large@people.test'], head + padding.repeat(4)),
    /^552 5\.3\.4 /,
  );
  assert.match(await client.submit(['large@people.test'], templateMail()), /^250 /);
});

test('RFC 1870 section 4: a SIZE that is no number of bytes is refused', async () => {
  const client = await world.login();
  for (const size of ['', '=', '=many', '=-1', '=1e3', '=0x10', `=${'1'.repeat(21)}`])
    assert.match(
      await client.send(`MAIL FROM:<orders@shop.test> SIZE${size}`),
      /^501 5\.5\.4 /,
      size,
    );
  assert.match(await client.send('MAIL FROM:<orders@shop.test> SIZE=20'), /^250 /);
});

test('a large head is refused', async () => {
  const client = await world.login();
  const padding = `X-Padding: ${'x'.repeat(70)}\r\n`.repeat(3_000);
  assert.match(
    await client.submit(['a@people.test'], `${padding}${templateMail()}`),
    /^554 5\.6\.0 Invalid message: header /,
  );
});

test('text of the client can’t add lines to a reply', async () => {
  const client = await world.login();
  const reply = await client.submit(['a@people.test'], templateMail({ 'a\r\n250 2.0.0 ok': 1 }));
  assert.match(reply, /^554 5\.6\.0 /);
  assert.equal(client.pending, '');
  assert.match(await client.send('NOOP'), /^250 /);
});
