import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticate } from 'mailauth';
import { simpleParser } from 'mailparser';
import { addKey } from '../support/api-key.ts';
import { DirectShop } from '../support/direct-shop.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { submissionEnvironment } from '../support/submission-shop.ts';
import type { TestMxOptions } from '../support/test-mx.ts';
import { readTestResolver } from '../support/test-resolver.ts';
import { waitFor } from '../support/wait-for.ts';

/** A shop that delivers to a host with or without extensions. */
async function open(source: string, mx: TestMxOptions) {
  const { environment } = await submissionEnvironment();
  const direct = await DirectShop.open(`${source}=mail.sender.test`, mx, environment);
  direct.zones
    .set('mail.sender.test', { A: [source] })
    .set('people.test', { MX: [[10, 'mx.people.test']] })
    .set('mx.people.test', { A: [mx.address] });
  const key = await addKey(direct.database, direct.shop.id, { scopes: ['messages:send'] });
  const { tlsPort = 0 } = direct.service.app.submissionPorts();
  const submit = async (to: string, message: string, mail?: string): Promise<string> => {
    const client = await SmtpClient.open({ port: tlsPort, tls: true });
    await client.greet();
    await client.login(direct.shop.id, key);
    const reply = await client.submit([to], message, mail);
    await client.end();
    assert.match(reply, /^250 /, reply);
    return reply.slice(-36);
  };
  const mailTo = async (to: string) => {
    const mail = await waitFor(`the mail to ${to}`, () =>
      direct.mx.mails.find((found) => found.to.includes(to)),
    );
    return { ...mail, bytes: Buffer.from(mail.source, 'latin1') };
  };
  const dkimOf = async (bytes: Buffer, peer: string): Promise<unknown> => {
    const { dkim } = await authenticate(bytes, {
      ip: peer,
      helo: 'mail.sender.test',
      sender: 'x@bounces.shop.test',
      resolver: readTestResolver(direct.zones),
    });
    return dkim.results.map((result: { status: { result: string } }) => result.status.result);
  };
  return { direct, submit, mailTo, dkimOf };
}

const able = await open('127.0.0.91', { address: '127.0.0.92', port: 0 });
const unable = await open('127.0.0.93', {
  address: '127.0.0.94',
  port: 0,
  ascii: true,
  sevenBit: true,
});

const text = 'Grüße aus Köln = 100 %\r\nund eine zweite Zeile mit Leerzeichen \r\n';
const html = `<p>Grüße</p>${'<br>lang'.repeat(50)}\r\n`;
const data = Buffer.from('Größe').toString('base64');

function eightBit(to: string): string {
  return [
    'From: Demo Shop <orders@shop.test>',
    `To: ${to}`,
    'Subject: Eight bits',
    'Date: Thu, 1 Jan 2026 10:00:00 +0000',
    `Message-ID: <${to}>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="outer"',
    'Content-Transfer-Encoding: 8bit',
    '',
    'preamble',
    '--outer',
    'Content-Type: multipart/alternative; boundary="inner"',
    '',
    '--inner',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    `${text}--inner`,
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    `${html}--inner--`,
    '--outer',
    'Content-Type: application/octet-stream; name=data.bin',
    'Content-Transfer-Encoding: base64',
    '',
    data,
    '--outer',
    'Content-Type: message/rfc822',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Subject: Inside',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Übrigens',
    '--outer--',
    '',
  ].join('\r\n');
}

const transactional = 'X-Signalpost-Transactional: true\r\n';

test('RFC 6152: a host with 8BITMIME gets the message byte for byte, and DKIM passes', async () => {
  const to = 'able@people.test';
  const source = eightBit(to);
  await able.submit(to, transactional + source, 'MAIL FROM:<x@shop.test> BODY=8BITMIME');
  const mail = await able.mailTo(to);
  assert.ok(String(mail.bytes).endsWith(source), mail.source);
  assert.deepEqual(await able.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
  assert.match(mail.from, /@bounces\.shop\.test$/);
});

test('RFC 6152 section 3: a host without 8BITMIME gets seven bits with the same content, and DKIM passes', async () => {
  const to = 'unable@people.test';
  await unable.submit(to, transactional + eightBit(to));
  const mail = await unable.mailTo(to);
  assert.match(mail.source, /^[\0-\x7f]*$/);
  assert.doesNotMatch(mail.source, /Content-Transfer-Encoding: 8bit/);
  assert.ok(mail.source.split('\r\n').every((line) => line.length <= 998));
  assert.deepEqual(await unable.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
  const [parsed, expected] = await Promise.all(
    [mail.source, eightBit(to)].map((source) => simpleParser(source)),
  );
  assert.equal(parsed?.text, expected?.text);
  assert.equal(parsed?.html, expected?.html);
  const contents = (attachments = parsed?.attachments) =>
    attachments?.map(({ content }) => content.toString('base64'));
  assert.equal(contents()?.[0], contents(expected?.attachments)?.[0]);
  const inner = await simpleParser(parsed?.attachments[1]?.content ?? '');
  assert.equal(inner.text?.trim(), 'Übrigens');
});

test('RFC 5322 section 2.1.1: lines that are too long are encoded, and DKIM passes', async () => {
  const to = 'long@people.test';
  const line = 'x'.repeat(3_000);
  await able.submit(
    to,
    `${transactional}From: orders@shop.test\r\nTo: ${to}\r\nSubject: Long\r\n\r\n${line}\r\n`,
  );
  const mail = await able.mailTo(to);
  assert.ok(mail.source.split('\r\n').every((written) => written.length <= 998));
  assert.equal((await simpleParser(mail.source)).text?.trim(), line);
  assert.deepEqual(await able.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
});

test('RFC 6531 section 3.2: a message that needs SMTPUTF8 fails for good where the host lacks it', async () => {
  const source = (to: string): string =>
    `${transactional}From: orders@shop.test\r\nTo: Jürgen <${to}>\r\nSubject: Grüße\r\n\r\nHi\r\n`;
  const mailFrom = 'MAIL FROM:<x@shop.test> SMTPUTF8';
  await able.submit('utf8@people.test', source('utf8@people.test'), mailFrom);
  const mail = await able.mailTo('utf8@people.test');
  assert.match(String(mail.bytes), /Subject: Grüße/);
  const id = await unable.submit('ascii@people.test', source('ascii@people.test'), mailFrom);
  const { rows } = await waitFor('the bounce', async () => {
    const found = await unable.direct.database.pool.query(
      "select detail, kind from message_event where message_id = $1 and kind in ('bounced', 'delivered')",
      [id],
    );
    return found.rowCount === 1 && found;
  });
  assert.equal(rows[0].kind, 'bounced');
  assert.equal(rows[0].detail.status, '5.6.7');
});
