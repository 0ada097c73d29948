import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import { sweepAttachments } from '../../../src/outcomes/retention/delete-old-store.ts';
import { erasePerson } from '../../../src/outcomes/retention/person-data-store.ts';
import {
  applyRetentionRules,
  saveRetentionRule,
} from '../../../src/outcomes/retention/retention-store.ts';
import { QueueControlStore } from '../../../src/sending/queue/control-store.ts';
import { readMailboxField } from '../../../src/sending/smtp-submission/template-submission.ts';
import { addKey } from '../../support/api-key.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { openSubmissionShop } from '../../support/submission-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await openSubmissionShop();
const { shop } = world;
const { database, service, clock } = shop;
const manage = new ManagementClient(service, await addKey(database, shop.shop.id));
const path = '/accounts/46100';

const body = [
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Hello,',
  '.. this line begins with dots',
  'and  this  one has spaces at its end  ',
  '',
  'Bye',
  '',
].join('\r\n');

function raw(fields: Readonly<Record<string, string>> = {}, rest = body): string {
  const all = {
    From: 'Demo Shop <orders@shop.test>',
    To: 'reader@people.test',
    Subject: 'Your invoice',
    Date: 'Thu, 1 Jan 2026 10:00:00 +0100',
    'Message-ID': `<${Math.random()}@app.test>`,
    ...fields,
  };
  const lines = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return lines.join('') + rest;
}

/** Submits a message and returns its ID and its mail. */
async function submit(to: string, source: string) {
  const client = await world.login();
  const reply = await client.submit([to], source);
  assert.match(reply, /^250 2\.6\.0 Accepted as /, reply);
  const [mail] = await readInbox(service.url, `?to=${to}&wait=60`);
  await client.end();
  const id = reply.slice(-36);
  await waitFor('the delivery', async () => (await shop.state(id)) === 'delivered');
  return { id, source: mail?.source ?? '', headers: mail?.headers ?? {} };
}

async function refuse(source: string): Promise<string> {
  const client = await world.login();
  const reply = await client.submit(['reader@people.test'], source);
  await client.end();
  return reply;
}

const day = (ahead: number): string =>
  new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10);

const transactional = { 'X-Signalpost-Transactional': 'true' };

test('a message arrives byte for byte, after one trace field', async () => {
  const source = raw({ 'X-Mailer': 'PHP', 'List-Id': '<x.shop.test>' });
  const fields = { ...transactional, 'X-Signalpost-Tag': 'invoice' };
  const control = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const sent = await submit('bytes@people.test', control.join('') + source);
  assert.ok(sent.source.endsWith(source), sent.source);
  const before = sent.source.slice(0, -source.length);
  assert.match(
    before,
    /^Received: from client\.test \(\[127\.0\.0\.1\]\)\r\n by \S+ with ESMTPSA id \S+;\r\n [^\r\n]+ \+0000\r\n$/,
  );
});

test('RFC 6409 section 8: Message-ID and Date are added where they are missing', async () => {
  const { headers } = await submit('added@people.test', raw({ 'Message-ID': '', Date: '' }));
  assert.match(String(headers['message-id']), /^<[0-9a-f-]{36}@shop\.test>$/);
  assert.ok(!Number.isNaN(Date.parse(String(headers.date))));
});

test('RFC 5322 2.1.1: a line of the header of more than 998 octets is folded at its blanks, and says the same', async () => {
  const to = 'folded@people.test';
  const ids = Array.from({ length: 40 }, (_, at) => `<${'m'.repeat(26)}${at}@app.test>`);
  const { source } = await submit(to, raw({ To: to, References: ids.join(' ') }));
  const [header = ''] = source.split('\r\n\r\n');
  assert.ok(header.split('\r\n').every((line) => line.length <= 998 && line.trim() !== ''));
  assert.ok(header.replaceAll('\r\n', '').includes(`References: ${ids.join(' ')}`), header);
});

test('blind copies, return paths and control fields are not sent on', async () => {
  const { source } = await submit(
    'blind@people.test',
    raw({
      Bcc: 'secret@people.test,\r\n other@people.test',
      'Return-Path': '<x@shop.test>',
      'X-Signalpost-Original-To': 'old@people.test',
      'X-Signalpost-Attributes': '{"order":"A-1"}',
    }),
  );
  assert.doesNotMatch(source, /bcc|secret@|other@|return-path|x-signalpost/i);
});

test('a message that isn’t transactional gets the service’s unsubscribe fields instead of its own', async () => {
  const own = { 'List-Unsubscribe': '<https://app.test/u>' };
  const other = await submit('list@people.test', raw(own));
  assert.equal(other.headers['list-unsubscribe']?.length, 1);
  assert.match(String(other.headers['list-unsubscribe']), /\/u\//);
  const kept = await submit('kept@people.test', raw({ ...own, ...transactional }));
  assert.deepEqual(kept.headers['list-unsubscribe'], ['<https://app.test/u>']);
});

test('the sender, its name, Reply-To and Sender are checked as over HTTP', async () => {
  for (const [fields, expected] of [
    [{ From: 'new@shop.test' }, /^550 5\.7\.1 Sender not allowed: From is not a verified sender/],
    [{ From: 'The Bank <orders@shop.test>' }, /^550 5\.7\.1 .*the name in From/],
    [{ 'Reply-To': 'x@bank.test' }, /^550 5\.7\.1 .*Reply-To/],
    [{ Sender: 'ceo@bank.test' }, /^550 5\.7\.1 .*ceo@bank\.test/],
    [{ From: '' }, /^554 5\.6\.0 .*From is required/],
    [{ From: 'orders@shop.test, ceo@bank.test' }, /^554 5\.6\.0 .*not exactly one address/],
    [{ From: 'x <ceo@bank.test> <orders@shop.test>' }, /^554 5\.6\.0 .*not exactly one address/],
    [{ from: 'ceo@bank.test' }, /^554 5\.6\.0 .*From occurs more than once/],
    [{ From: '=?utf-8?Q?a=00b?= <orders@shop.test>' }, /^554 5\.6\.0 .*not exactly one address/],
    [{ 'X-Signalpost-Tag': '=?utf-8?Q?a=00b?=' }, /^554 5\.6\.0 .*contains a NUL character/],
    [{ 'X-Signalpost-Attributes': '{"a":"\\u0000"}' }, /^554 5\.6\.0 .*contains a NUL character/],
    [{ 'X-SES-CONFIGURATION-SET': 'x' }, /^554 5\.6\.0 .*is reserved/],
    [{ 'X-Signalpost-Tmeplate': 'x' }, /^554 5\.6\.0 .*is not a known field/],
    [{ 'X-Signalpost-Track-Opens': 'maybe' }, /^554 5\.6\.0 .*must be true or false/],
    [{ 'X-Signalpost-Tag': 't'.repeat(49) }, /^554 5\.6\.0 .*X-Signalpost-Tag/],
  ] as const)
    assert.match(await refuse(raw(fields)), expected, JSON.stringify(fields));
});

test('RFC 5322 3.2.2: a comment in the name of From is part of the name, and can’t hide an address', async () => {
  for (const From of [
    'Support (x@bank.test) <orders@shop.test>',
    'Support (a (b)) <orders@shop.test>',
    'Support (a <orders@shop.test>',
  ])
    assert.match(await refuse(raw({ From })), /^554 5\.6\.0 .*not exactly one address/, From);
  assert.deepEqual(readMailboxField('Support (Billing) <orders@shop.test>'), {
    address: 'orders@shop.test',
    name: 'Support (Billing)',
  });
});

test('files that are refused over HTTP are refused in messages, however deep', async () => {
  const program = Buffer.from(`MZ${'\0'.repeat(100)}`).toString('base64');
  const part = (head: string, content: string) => `--b\r\n${head}\r\n\r\n${content}\r\n`;
  const mixed = (inner: string) =>
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${part('Content-Type: text/plain', 'Hi')}${inner}--b--\r\n`;
  const named = part(
    "Content-Type: application/octet-stream\r\nContent-Disposition: attachment;\r\n filename*=utf-8''run%2Eexe",
    'x',
  );
  const hidden = part(
    'Content-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64',
    program,
  );
  const attached = part(
    'Content-Type: message/rfc822',
    `Subject: Inner\r\n${mixed(named).replaceAll('--b', '--c').replace('=b', '=c')}`,
  );
  for (const inner of [named, hidden, attached])
    assert.match(await refuse(raw({}, mixed(inner))), /^554 5\.6\.0 .*not allowed/, inner);
  const fine = part('Content-Type: application/pdf; name=a.pdf', '%PDF-1.7');
  await submit('pdf@people.test', raw({}, mixed(fine)));
});

test('the source is stored once for all recipients, and outside the rows that delivery claims', async () => {
  const to = ['x@people.test', 'y@people.test', 'z@people.test'];
  const big = `${body}${`${'x'.repeat(76)}\r\n`.repeat(30_000)}`;
  const client = await world.login();
  assert.match(await client.submit(to, raw({ 'X-Signalpost-Tag': 'big' }, big)), /^250 /);
  const { rows } = await database.pool.query(
    `select m.tx::text, length(m.content::text) as size, encode(a.sha256, 'hex') as sha256
     from message m join message_attachment a on a.message_id = m.id where m.tag = 'big'`,
  );
  assert.equal(rows.length, 3);
  assert.equal(new Set(rows.map(({ sha256 }) => sha256)).size, 1);
  assert.equal(new Set(rows.map(({ tx }) => tx)).size, 1);
  assert.ok(rows.every(({ size }) => size < 1_000));
  for (const address of to) {
    const [mail] = await readInbox(service.url, `?to=${address}&wait=60`);
    assert.ok(mail?.source.endsWith(big));
  }
});

test('a repeated message is sent once', async () => {
  const client = await world.login();
  const source = raw({ 'X-Signalpost-Tag': 'once' });
  const first = await client.submit(['once@people.test'], source);
  const again = `Received: from a by b; Thu, 1 Jan 2026 00:00:00 +0000\r\n${source}`;
  assert.equal(await client.submit(['once@people.test'], again), first);
  const { rows } = await database.pool.query("select from message where tag = 'once'");
  assert.equal(rows.length, 1);
});

test('a message with a send time waits for it', async () => {
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const client = await world.login();
  const reply = await client.submit(
    ['scheduled@people.test'],
    raw({ 'X-Signalpost-Send-At': sendAt, 'X-Signalpost-Tag': 'later' }),
  );
  assert.match(reply, /^250 /);
  const { body: found } = await manage.get(`${path}/messages/${reply.slice(-36)}`);
  assert.equal((found.nextAttempt as { at: string }).at, sendAt);
  await database.pool.query('update queued_delivery set due_at = now() where message_id = $1', [
    reply.slice(-36),
  ]);
  const [mail] = await readInbox(service.url, '?to=scheduled@people.test&wait=60');
  assert.ok(mail?.source.endsWith(body));
});

test('a message is in the log, search, its page, downloads and reports, and can be resent', async () => {
  const { id } = await submit(
    'log@people.test',
    raw({
      Subject: '=?utf-8?Q?Caf=C3=A9_receipt?=',
      'X-Signalpost-Tag': 'cafe',
      'X-Signalpost-External-Id': 'ext-1',
      'X-Signalpost-Attributes': '{"order":"A-7"}',
    }),
  );
  const found = async (query: string) => {
    const { body: page } = await manage.get(`${path}/messages?${query}`);
    return (page.items as { id: string; subject: string }[]).find((line) => line.id === id);
  };
  for (const query of [
    'search=caf%C3%A9',
    'tag=cafe',
    'attribute=order%3DA-7',
    'externalId=ext-1',
    'recipient=log%40people.test',
  ])
    assert.equal((await waitFor(query, () => found(query))).subject, 'Café receipt');
  const { body: message } = await manage.get(`${path}/messages/${id}`);
  assert.equal(message.templateId, '.raw');
  assert.deepEqual(
    (message.events as { kind: string }[]).map(({ kind }) => kind),
    ['delivered'],
  );
  const shown = await manage.get(`${path}/messages/${id}/rendered`);
  assert.equal(shown.body.subject, 'Café receipt');
  assert.match(String(shown.body.text), /^Hello,/);
  const download = await manage.get(`${path}/messages/${id}/attachments/1`);
  assert.ok(download.text.endsWith(body));
  const report = await waitFor('the report', async () => {
    const { body: sums } = await manage.get(
      `${path}/reports?group=tag&from=${day(-1)}&until=${day(2)}`,
    );
    return JSON.stringify(sums).includes('cafe') && sums;
  });
  assert.ok(report);
  const resent = await manage.post(`${path}/messages/${id}/resend`);
  assert.equal(resent.status, 201, resent.text);
  await waitFor(
    'the second mail',
    async () => (await readInbox(service.url, '?to=log@people.test')).length === 2,
  );
});

test('a retention rule erases the source, and a message without it isn’t resent', async () => {
  const { id } = await submit('erase@people.test', raw({ Subject: 'Erase me' }));
  await saveRetentionRule(database.kysely, shop.shop.id, {
    contentDays: 3,
    addressDays: null,
    engagementDays: null,
  });
  await clock.advance(4 * 86_400_000);
  await applyRetentionRules(database.kysely);
  await clock.advance(2 * 86_400_000);
  await sweepAttachments(database.kysely);
  await clock.reset();
  const { rows } = await database.pool.query(
    `select m.content ->> 'subjectLine' as subject, a.sha256 from message m
     left join message_attachment a on a.message_id = m.id where m.id = $1`,
    [id],
  );
  assert.deepEqual(rows, [{ subject: null, sha256: null }]);
  const resent = await manage.post(`${path}/messages/${id}/resend`);
  assert.equal(resent.status, 409);
  assert.match(resent.text, /attachments and subject line were erased/);
});

test('an erased recipient disappears from the header of everyone’s copy, also of one that waits', async () => {
  const controls = new QueueControlStore(database);
  const later = { accountId: shop.shop.id, destination: 'later.test' };
  await controls.control('pause', later);
  const client = await world.login();
  const source = raw({
    To: '"Gone, Ann" <Erased@people.test>, Bea <stays@people.test>, waits@later.test',
    Cc: 'erased@people.test',
  });
  const to = ['erased@people.test', 'stays@people.test', 'waits@later.test'];
  assert.match(await client.submit(to, source), /^250 /);
  await readInbox(service.url, '?to=stays@people.test&wait=60');
  const stored = async () => {
    const { rows } = await database.pool.query<{ state: string; source: string }>(
      `select m.state, convert_from(c.content, 'UTF8') as source from message m
       join message_attachment using (account_id, retention_days)
       join attachment_content c using (account_id, sha256)
       where message_id = m.id and m.content ->> 'to' = any ($1)`,
      [to],
    );
    return rows;
  };
  await waitFor('both deliveries', async () => {
    const states = (await stored()).map(({ state }) => state);
    return states.filter((state) => state === 'delivered').length === 2;
  });
  await erasePerson(database.kysely, {
    accountId: shop.shop.id,
    address: 'erased@people.test' as ComparableAddress,
    requestedBy: 'officer',
    hashKey: createSecretKey(Buffer.alloc(32, 1)),
    keepSuppressions: false,
  });
  const copies = await stored();
  assert.equal(copies.length, 2);
  for (const copy of copies) {
    assert.match(copy.source, /^To: Bea <stays@people\.test>, waits@later\.test\r\nSubject: /m);
    assert.doesNotMatch(copy.source, /erased@|Gone|^Cc:/im);
    assert.ok(copy.source.endsWith(body));
  }
  await controls.control('resume', later);
  const [mail] = await readInbox(service.url, '?to=waits@later.test&wait=60');
  assert.doesNotMatch(mail?.source ?? 'none', /erased@|none/i);
});
