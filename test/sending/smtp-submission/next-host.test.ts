import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDirectSubmission } from '../../support/direct-submission.ts';
import { readSentMail } from '../../support/read-mail.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const able = await openDirectSubmission('127.0.0.91', { address: '127.0.0.92', port: 0 });
const unable = await openDirectSubmission('127.0.0.93', {
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
  const [parsed, expected] = [mail.source, eightBit(to)].map(readSentMail);
  assert.equal(parsed?.text, expected?.text);
  assert.equal(parsed?.html, expected?.html);
  const contents = (files = parsed?.files) =>
    files?.map(({ content }) => content.toString('base64'));
  assert.equal(contents()?.[0], contents(expected?.files)?.[0]);
  const inner = readSentMail(parsed?.files[1]?.content ?? '');
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
  assert.equal(readSentMail(mail.source).text?.trim(), line);
  assert.deepEqual(await able.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
});

test('RFC 6409 section 8: line feeds on their own become CRLF, and a dot between them ends nothing at the host', async () => {
  const to = 'feeds@people.test';
  const lines = [
    'From: orders@shop.test',
    `To: ${to}`,
    'Subject: Feeds',
    '',
    'Hi',
    '.',
    'MAIL FROM:<x@evil.test>',
    '',
  ];
  await able.submit(to, transactional + lines.join('\n'));
  const mail = await able.mailTo(to);
  // The test's client ends the data with a CRLF of its own.
  assert.ok(String(mail.bytes).endsWith(`${lines.join('\r\n')}\r\n`), mail.source);
  assert.deepEqual(await able.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
});

/** As mail() of PHP writes it, and many a script. */
const utf8Header = (to: string, more: string): string =>
  `${transactional}From: orders@shop.test\r\nTo: Jürgen Weiß <${to}>\r\nSubject: Grüße\r\n${more}\r\nÜbrigens\r\n`;

test('RFC 2047 section 5: texts of the header are encoded, so that a host without SMTPUTF8 accepts them, and DKIM passes', async () => {
  for (const [host, to] of [
    [able, 'words@people.test'],
    [unable, 'words2@people.test'],
  ] as const) {
    const more = 'Content-Type: text/plain; charset=utf-8\r\nX-Note: für Jürgen\r\n';
    await host.submit(to, utf8Header(to, more));
    const mail = await host.mailTo(to);
    const [head = ''] = mail.source.split('\r\n\r\n', 1);
    assert.match(head, /^[\0-\x7f]*$/);
    const read = readSentMail(mail.bytes);
    assert.equal(read.subject, 'Grüße');
    assert.equal(read.text?.trim(), 'Übrigens');
    assert.match(head, /^To: =\?utf-8\?\S+ <words2?@people\.test>$/m);
    assert.match(head, /^X-Note: =\?utf-8\?/m);
    assert.deepEqual(await host.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
  }
});

test('RFC 6531 section 3.2: a message with an address that needs SMTPUTF8 fails for good where the host lacks it', async () => {
  const source = (to: string): string => utf8Header(to, 'Cc: müller@people.test\r\n');
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

test('a complete message that waits to be read holds no slot of its destination', async () => {
  const { direct } = able;
  const { pool } = direct.database;
  direct.zones
    .set('slots.test', { MX: [[10, 'mx.slots.test']] })
    .set('mx.slots.test', { A: ['127.0.0.92'] });
  await pool.query(
    `insert into destination (name, label, rate, good, connections, override_rate, override_connections)
     values ('slots.test', 'slots.test', 10, 5, 20, 100, 1)`,
  );
  await pool.query(
    "insert into delivery_pause (account_id, destination, paused_at) values ($1, '*', now())",
    [direct.shop.id],
  );
  const to = 'waits@slots.test';
  await able.submit(to, transactional + eightBit(to));
  const gate = await pool.connect();
  try {
    await gate.query('begin');
    await gate.query('lock table attachment_content in access exclusive mode');
    await pool.query('delete from delivery_pause');
    await waitForLock(direct.database);
    const blockedSince = async () => {
      const { rows } = await pool.query(
        `select max(query_start)::text as since from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0].since;
    };
    const since = await blockedSince();
    await direct.send('passes@slots.test');
    await able.mailTo('passes@slots.test');
    assert.equal(await blockedSince(), since, 'the first still waits');
  } finally {
    await gate.query('rollback');
    gate.release();
  }
  await able.mailTo(to);
});
