import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { policies } from '../../../src/base/fairness/policies.ts';
import { type AccountId, type MessageId, newMessageId } from '../../../src/base/values/ids.ts';
import { ReplyAddresses } from '../../../src/content/message/reply-address.ts';
import { authenticateReply } from '../../../src/outcomes/reply/authenticate-reply.ts';
import { ReturnPaths } from '../../../src/sending/delivery/return-path.ts';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { plainReply, ReplyShop } from '../../support/reply-shop.ts';
import { bodyWith } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { metricsHeaders } from '../../support/service-tokens.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { testKey } from '../../support/test-service.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';

const world = await ReplyShop.open();
const { shop, dns, manage, port } = world;
const { pool } = shop.database;
const account = `/accounts/${shop.shop.id}`;
const addresses = new ReplyAddresses(testKey);
const paths = new ReturnPaths(testKey);

function withAttachment(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,76}/g) ?? [];
  return [
    'From: =?utf-8?q?Ada_L=C3=B6velace?= <ada@customer.test>',
    'To: Shop <orders@shop.test>',
    'Cc: ben@customer.test',
    'Subject: =?utf-8?q?Re=3A_N=C3=A4ws?=',
    'Date: Thu, 26 Nov 2026 11:00:00 +0100',
    `Message-ID: <${Math.random()}@customer.test>`,
    'In-Reply-To: <question@shop.test>',
    'References: <first@shop.test> <question@shop.test>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=outer',
    '',
    '--outer',
    'Content-Type: multipart/alternative; boundary=inner',
    '',
    '--inner',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Grüße',
    '--inner',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<p>Grüße</p>',
    '--inner--',
    '--outer',
    'Content-Type: application/pdf; name="invoice.pdf"',
    'Content-Disposition: attachment; filename="invoice.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    ...lines,
    '--outer--',
    '',
  ].join('\r\n');
}

test('a reply arrives at the webhook with its text, HTML, attachment, thread and message', async () => {
  const message = await world.send({ metadata: { attributes: { order: 'A-1' } } });
  assert.match(message.replyTo, /^r-[a-z2-7]{52}@bounces\.shop\.test$/);
  const file = Buffer.from('%PDF-1.4 an invoice');
  const { id, event, reply } = await world.reply(message, withAttachment(file));
  assert.equal(event.type, 'message.replied');
  assert.equal(event.data.messageId, message.id);
  assert.deepEqual(event.data.attributes, { order: 'A-1' });
  assert.deepEqual(event.data.detail, { replyId: id, automatic: false });
  assert.equal(reply.replyId, id);
  assert.deepEqual(reply.from, { address: 'ada@customer.test', name: 'Ada Lövelace' });
  assert.deepEqual(reply.to, [{ address: 'orders@shop.test', name: 'Shop' }]);
  assert.deepEqual(reply.cc, [{ address: 'ben@customer.test', name: '' }]);
  assert.equal(reply.subject, 'Re: Näws');
  assert.equal(reply.date, '2026-11-26T10:00:00.000Z');
  assert.equal(reply.envelopeFrom, 'ada@customer.test');
  assert.match(String(reply.text), /^Grüße\s*$/);
  assert.match(String(reply.html), /^<p>Grüße<\/p>\s*$/);
  const headers = reply.headers as Record<string, unknown>;
  assert.equal(headers.inReplyTo, '<question@shop.test>');
  assert.deepEqual(headers.references, ['<first@shop.test>', '<question@shop.test>']);
  assert.deepEqual(reply.attachments, [
    {
      filename: 'invoice.pdf',
      contentType: 'application/pdf',
      contentId: null,
      size: file.length,
      content: file.toString('base64'),
      url: null,
    },
  ]);
});

test('a webhook of a key that can’t read messages gets the IDs of a reply, not the reply', async () => {
  const key = await addKey(shop.database, shop.shop.id, { scopes: ['webhooks:write'] });
  const manager = new ManagementClient(shop.service, key);
  const other = await WebhookReceiver.open();
  const settings = { url: other.url, kinds: ['replied'] };
  const added = await manager.post(`${account}/webhooks`, settings);
  assert.equal(added.status, 201, added.text);
  const hidden = await world.reply(await world.send());
  const { body } = await other.waitFor(hidden.id);
  assert.equal(body.data.reply, null);
  assert.deepEqual(body.data.detail, { replyId: hidden.id, automatic: false });

  const own = `${account}/webhooks/${added.body.id}`;
  const tested = await manage.post(`${own}/test`, { kind: 'replied' });
  assert.equal(JSON.parse(String(tested.body.request)).data.reply, null);

  assert.equal((await manage.put(own, settings)).status, 200);
  const shown = await world.reply(await world.send());
  assert.deepEqual((await other.waitFor(shown.id)).body.data.reply, shown.reply);

  // Whoever can't read replies can't send them elsewhere either.
  assert.equal((await manager.put(own, { ...settings, url: `${other.url}?2` })).status, 200);
  const redirected = await world.reply(await world.send());
  assert.equal((await other.waitFor(redirected.id)).body.data.reply, null);
  assert.equal((await manage.delete(own)).status, 204);
});

test('the address works in capitals, and the message lists its replies newest first', async () => {
  const message = await world.send();
  const first = await world.reply(message);
  const body = ['', '> Any news?', `${'ü'.repeat(119)}🎉🎉`, 'More'].join('\r\n');
  const source = plainReply({ 'Content-Type': 'text/plain; charset=utf-8' }, body);
  assert.match(await world.deliver(message.replyTo.toUpperCase(), source), /^250 /);
  const listed = await manage.get(`${account}/replies?messageId=${message.id}`);
  const items = listed.body.items as { replyId: string; messageSubject: string; preview: string }[];
  assert.deepEqual(
    items.map(({ messageSubject, preview }) => [messageSubject, preview]),
    [
      ['News', `${'ü'.repeat(119)}🎉`],
      ['News', 'Thanks'],
    ],
  );
  assert.equal(items[1]?.replyId, first.id);
  const page = await manage.get(`${account}/replies?limit=1`);
  const next = await manage.get(`${account}/replies?limit=1&cursor=${page.body.nextCursor}`);
  assert.equal((next.body.items as { replyId: string }[])[0]?.replyId, first.id);
  const one = await manage.get(`${account}/replies/${first.id}`);
  assert.deepEqual(one.body, JSON.parse(JSON.stringify(first.reply)));
});

test('replies are found by their sender, in capitals too, and say whether its domain confirms it', async () => {
  const message = await world.send();
  const { id } = await world.reply(message, plainReply({ From: 'Bob <Bob@customer.test>' }));
  const found = await manage.get(`${account}/replies?from=bob%40CUSTOMER.test`);
  const items = found.body.items as { replyId: string; authenticated: boolean }[];
  assert.deepEqual(
    items.map(({ replyId, authenticated }) => [replyId, authenticated]),
    [[id, false]],
  );
  const none = await manage.get(`${account}/replies?from=carol%40customer.test`);
  assert.deepEqual(none.body.items, []);
  const invalid = await manage.get(`${account}/replies?from=bob`);
  assert.equal(invalid.status, 422);
  assert.match(invalid.text, /has no @/);
});

test('content beyond 1 MiB is linked, and the link needs a key that may read messages', async () => {
  const message = await world.send();
  const file = Buffer.alloc(3 * 1024 ** 2, 'large ');
  const { text, reply } = await world.reply(message, withAttachment(file));
  assert.ok(Buffer.byteLength(text) < 1024 ** 2);
  assert.match(String(reply.text), /^Grüße/);
  const [attachment] = reply.attachments as { content: null; url: string }[];
  assert.equal(attachment?.content, null);
  const url = attachment?.url ?? '';
  const authorization = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  assert.equal((await sendRequest(url)).status, 401);
  const other = await addKey(shop.database, shop.shop.id, { scopes: ['webhooks:read'] });
  assert.equal((await sendRequest(url, authorization(other))).status, 403);
  const response = await fetch(url, authorization(world.key));
  assert.equal(response.headers.get('content-type'), 'application/octet-stream');
  assert.match(response.headers.get('content-disposition') ?? '', /^attachment;.*invoice\.pdf/);
  assert.ok(file.equals(Buffer.from(await response.arrayBuffer())));
});

test('a text that doesn’t fit is linked too', async () => {
  const message = await world.send();
  const long = 'A line of a long reply.\r\n'.repeat(60_000);
  const { reply, text } = await world.reply(message, plainReply({}, long));
  assert.ok(Buffer.byteLength(text) < 1024 ** 2);
  assert.equal(reply.text, null);
  const response = await fetch(String(reply.textUrl), {
    headers: { authorization: `Bearer ${world.key}` },
  });
  assert.equal((await response.text()).split('\n').length, 60_001 + 1);
});

test('the log of the webhook doesn’t contain the reply', async () => {
  const message = await world.send();
  const { id } = await world.reply(message, plainReply({}, 'between us'));
  const { body } = await manage.get(`${account}/webhooks`);
  const [webhook] = body.items as { id: string }[];
  const delivery = await manage.get(`${account}/webhooks/${webhook?.id}/deliveries/${id}`);
  assert.equal(delivery.status, 200);
  assert.match(delivery.text, /message\.replied/);
  assert.doesNotMatch(delivery.text, /between us|ada@customer/);
});

test('forged, unknown, foreign and erased addresses get the same reply', async () => {
  const message = await world.send();
  const [local = '', host] = message.replyTo.split('@');
  const forged = `${local.slice(0, 20)}${local[20] === 'a' ? 'b' : 'a'}${local.slice(21)}@${host}`;
  const unknown = addresses.make(shop.shop.id, newMessageId(), String(host));
  const foreign = addresses.make('other' as AccountId, message.id as MessageId, String(host));
  const { id: silent } = await shop.send('note');
  const unwanted = addresses.make(shop.shop.id, silent as MessageId, String(host));
  const erased = await world.send();
  await pool.query('update message set content = null where id = $1', [erased.id]);
  const responses = new Set<string>();
  for (const to of [forged, unknown, foreign, unwanted, erased.replyTo])
    responses.add(await world.deliver(to, plainReply()));
  assert.deepEqual([...responses], ['550 5.1.1 No such address']);
  assert.match(await world.deliver(message.replyTo, plainReply()), /^250 /);
});

test('RFC 3834: mail of programs and lists is marked as automatic, mail of people isn’t', async () => {
  const message = await world.send();
  const person = await world.reply(message, plainReply({ 'Auto-Submitted': 'no' }));
  assert.equal(person.reply.automatic, false);
  const automatic: readonly Readonly<Record<string, string>>[] = [
    { 'Auto-Submitted': 'auto-replied; owner-email="ada@customer.test"' },
    { Precedence: 'bulk' },
    { Precedence: 'auto_reply' },
    { 'List-Id': '<list.customer.test>' },
    { 'X-Auto-Response-Suppress': 'All' },
    { 'X-Autoreply': 'yes' },
    { 'X-Autoreply-From': 'ada@customer.test' },
    { 'X-Vacation': 'yes' },
    { Subject: 'Automatic reply: Your order' },
    { Subject: 'AUTO: Your order' },
    { Subject: '=?utf-8?Q?Automatische_Antwort:_Bestellung?=' },
    { 'Content-Type': 'multipart/report; report-type=disposition-notification; boundary=b' },
  ];
  for (const fields of automatic) {
    const { event, reply } = await world.reply(message, plainReply(fields));
    assert.equal(reply.automatic, true, JSON.stringify(fields));
    assert.equal((event.data.detail as { automatic: boolean }).automatic, true);
  }
  const bounce = await world.reply(message, plainReply(), 'MAIL FROM:<>');
  assert.equal(bounce.reply.automatic, true);
  assert.equal(bounce.reply.envelopeFrom, '');
  const { reply } = await world.reply(
    message,
    plainReply({ 'Auto-Submitted': 'Auto-Generated (by a robot)' }),
  );
  assert.match(
    String((reply.headers as { autoSubmitted: string }).autoSubmitted),
    /^auto-generated/,
  );
});

test('mail in a loop is rejected: too many hops, and senders of this service', async () => {
  const message = await world.send();
  const hops = (count: number) =>
    'Received: from a.test by b.test; Thu, 26 Nov 2026 10:00:00 +0000\r\n'.repeat(count);
  assert.match(await world.deliver(message.replyTo, hops(51) + plainReply()), /^554 5\.4\.6 /);
  assert.match(await world.deliver(message.replyTo, hops(50) + plainReply()), /^250 /);
  const path = paths.make(
    { accountId: shop.shop.id, messageId: message.id as MessageId, recipient: 0 },
    'bounces.shop.test',
  );
  for (const sender of [path, message.replyTo]) {
    const refused = await world.deliver(message.replyTo, plainReply(), `MAIL FROM:<${sender}>`);
    assert.match(refused, /^554 5\.4\.6 /);
  }
  const fromItself = plainReply({ From: message.replyTo });
  assert.match(await world.deliver(message.replyTo, fromItself), /^554 5\.4\.6 /);
});

test('repeated mail is stored once, even if it arrives over another path', async () => {
  const message = await world.send();
  const source = plainReply();
  await world.reply(message, source);
  assert.match(await world.deliver(message.replyTo, source), /^250 /);
  const otherPath = `Received: from mx2.customer.test by mx.test; today\r\n${source}`;
  assert.match(await world.deliver(message.replyTo, otherPath), /^250 /);
  assert.equal((await world.rows(message.id)).length, 1);
  assert.equal((await shop.events(message.id, 'replied')).length, 1);
  // Another message of the same conversation.
  const other = await world.send();
  await world.reply(other, source);
});

test('knowing a reply address is not enough to fill the disk, and bounces still count', async () => {
  const message = await world.send();
  const stored = plainReply();
  await world.reply(message, stored);
  await pool.query(
    `insert into message_reply (account_id, id, message_id, retention_days, fingerprint, size, automatic, hashes)
     select account_id, gen_random_uuid(), message_id, retention_days, int4send(i), 1000, false, '{}'
     from message_reply, generate_series(1, 99) as i where message_id = $1`,
    [message.id],
  );
  assert.match(await world.deliver(message.replyTo, plainReply()), /^552 5\.2\.2 /);
  // Its server didn't get the reply to the last one, so it sends it again.
  assert.match(await world.deliver(message.replyTo, stored), /^250 /);
  assert.equal((await world.rows(message.id)).length, 100);
  const bounce = await readFile(
    join(import.meta.dirname, '../bounce/mail-reports/postfix-mailbox-full.eml'),
    'utf8',
  );
  const path = paths.make(
    { accountId: shop.shop.id, messageId: message.id as MessageId, recipient: 0 },
    'bounces.shop.test',
  );
  assert.match(await world.deliver(path, bounce, 'MAIL FROM:<>'), /^250 /);
  assert.equal((await shop.events(message.id, 'bounced')).length, 1);
  const other = await world.send();
  assert.match(await world.deliver(other.replyTo, plainReply()), /^250 /);
});

test('ASVS 4.0.3 11.1.4: slow replies to one account keep out neither its bounces nor other replies', async () => {
  const message = await world.send();
  const large = plainReply({}, `${'x'.repeat(76)}\r\n`.repeat(1_000));
  const slow: SmtpClient[] = [];
  const mostLarge = policies.largeReplies.total - policies.largeReplies.reserve;
  for (let index = 0; index < mostLarge + 2; index += 1) {
    // One network has only a few sessions.
    const client = await SmtpClient.open({ port, from: `127.0.${index}.2` });
    await client.greet();
    await client.send('MAIL FROM:<ada@customer.test>', /^250 /);
    await client.send(`RCPT TO:<${message.replyTo}>`, /^250 /);
    await client.send('DATA', /^354 /);
    client.socket.write(index < mostLarge ? large : plainReply());
    slow.push(client);
  }
  assert.match(await world.deliver(message.replyTo, large), /^250 /);
  assert.match(await world.deliver(message.replyTo, plainReply()), /^250 /);
  const bounce = await readFile(
    join(import.meta.dirname, '../bounce/mail-reports/postfix-mailbox-full.eml'),
    'utf8',
  );
  const path = paths.make(
    { accountId: shop.shop.id, messageId: message.id as MessageId, recipient: 0 },
    'bounces.shop.test',
  );
  assert.match(await world.deliver(path, bounce, 'MAIL FROM:<>'), /^250 /);
  for (const client of slow) client.socket.destroy();
});

test('an account has an hourly limit, after which senders must retry later', async () => {
  const message = await world.send();
  const first = await world.reply(message);
  await pool.query('update message_reply set size = 500 * 1024 * 1024 where id = $1', [first.id]);
  const other = await world.send();
  assert.match(await world.deliver(other.replyTo, plainReply()), /^451 4\.2\.2 /);
  await pool.query('update message_reply set size = 1000 where id = $1', [first.id]);
  assert.match(await world.deliver(other.replyTo, plainReply()), /^250 /);
});

test('the size limit is announced, and a larger reply is rejected', async () => {
  const message = await world.send();
  const client = await SmtpClient.open({ port });
  assert.ok((await client.greet()).includes(`SIZE ${25 * 1024 ** 2}`));
  await client.end();
  const large = Buffer.alloc(26 * 1024 ** 2, `${'x'.repeat(76)}\r\n`).toString();
  assert.match(await world.deliver(message.replyTo, plainReply({}, large)), /^552 /);
  assert.deepEqual(await world.rows(message.id), []);
});

test('mail that can’t be parsed is stored whole', async () => {
  const message = await world.send();
  const parts = Array.from(
    { length: 60 },
    (_, index) => `--b\r\nContent-Type: image/png; name="${index}.png"\r\n\r\nx\r\n`,
  );
  const source = `From: ada@customer.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts.join('')}--b--\r\n`;
  const { reply } = await world.reply(message, source);
  const [whole, ...more] = reply.attachments as { filename: string; content: string }[];
  assert.equal(whole?.filename, 'message.eml');
  assert.deepEqual(more, []);
  assert.equal(Buffer.from(whole?.content ?? '', 'base64').toString(), source);
  assert.equal(reply.unread, false);
  const endless = source.replace('--b--', parts.join('').repeat(20));
  const { reply: unread } = await world.reply(message, endless);
  assert.equal(unread.unread, true);
  assert.deepEqual(unread.from, { address: 'ada@customer.test', name: '' });
  assert.equal((unread.attachments as { filename: string }[])[0]?.filename, 'message.eml');
});

test('repeated mail with a different header isn’t stored again', async () => {
  const message = await world.send();
  const part = '--b\r\nContent-Type: image/png\r\n\r\nx\r\n';
  const fields = { 'Content-Type': 'multipart/mixed; boundary=b', 'Message-ID': '<1@again.test>' };
  const countContents = async (): Promise<unknown> => {
    const { rows } = await pool.query('select count(*)::int as count from attachment_content');
    return rows[0];
  };
  const first = plainReply(fields, `${part.repeat(60)}--b--`);
  assert.match(await world.deliver(message.replyTo, first), /^250 /);
  const before = await countContents();
  assert.match(await world.deliver(message.replyTo, `X-Number: 2\r\n${first}`), /^250 /);
  assert.deepEqual(await countContents(), before);
});

test('RFC 8601 section 2.7.1: a signature that can’t be processed is neutral, and the reply is received', async () => {
  const message = await world.send();
  const signature =
    'v=1; a=rsa-sha256; d=customer.test; s=x; t=99999999999999; h=from; bh=AAA=; b=AAA=';
  const { reply } = await world.reply(message, plainReply({ 'DKIM-Signature': signature }));
  assert.deepEqual(reply.authentication, {
    spf: { result: 'none', domain: 'customer.test' },
    dkim: { result: 'neutral', domain: 'customer.test' },
    dmarc: { result: 'none', domain: 'customer.test' },
  });
});

test('a reply whose header is too long to be checked has permerror as its results, and is received', async () => {
  const message = await world.send();
  const authors = 'a-'.repeat(3_000);
  const { reply } = await world.reply(message, plainReply({ From: `${authors} <a@b.test>` }));
  const { spf, dkim, dmarc } = reply.authentication as Record<string, { result: string }>;
  assert.deepEqual([spf?.result, dkim?.result, dmarc?.result], Array(3).fill('permerror'));
});

test('SPF and DMARC say whether the reply is from the domain it names', async () => {
  const message = await world.send();
  dns.set('honest.test', { TXT: ['v=spf1 ip4:127.0.0.1 -all'] });
  dns.set('_dmarc.honest.test', { TXT: ['v=DMARC1; p=reject'] });
  const from = { From: 'ada@honest.test' };
  const honest = await world.reply(message, plainReply(from), 'MAIL FROM:<ada@honest.test>');
  assert.deepEqual(honest.reply.authentication, {
    spf: { result: 'pass', domain: 'honest.test' },
    dkim: { result: 'none', domain: null },
    dmarc: { result: 'pass', domain: 'honest.test' },
  });
  const forged = await world.reply(message, plainReply(from), 'MAIL FROM:<eve@customer.test>');
  const { dmarc } = forged.reply.authentication as { dmarc: unknown };
  assert.deepEqual(dmarc, { result: 'fail', domain: 'honest.test' });
});

test('a signature of the From domain that verifies counts for DKIM and DMARC, until the text is changed', async () => {
  const message = await world.send();
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  dns.set('s1._domainkey.signed.test', { TXT: [`v=DKIM1; k=rsa; p=${key}`] });
  dns.set('_dmarc.signed.test', { TXT: ['v=DMARC1; p=reject'] });
  const source = plainReply({ From: 'ada@signed.test' }, 'signed');
  const signature = {
    signingDomain: 'signed.test',
    selector: 's1',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  // Without a time, the signer reads the clock twice, for what it signs and for what it writes.
  const options = { ...signature, signTime: new Date(), signatureData: [signature] };
  const { signatures } = await dkimSign(source, options);
  const { reply } = await world.reply(message, signatures + source);
  const results = reply.authentication as Record<string, unknown>;
  assert.deepEqual(results.dkim, { result: 'pass', domain: 'signed.test' });
  assert.deepEqual(results.dmarc, { result: 'pass', domain: 'signed.test' });
  const changed = await world.reply(
    message,
    signatures + source.replace(/signed\r\n$/, 'other\r\n'),
  );
  const { dkim, dmarc } = changed.reply.authentication as Record<string, { result: string }>;
  assert.notEqual(dkim?.result, 'pass');
  assert.equal(dmarc?.result, 'fail');
});

test('DNS that fails makes the results temperror, and the reply is received', async () => {
  const message = await world.send();
  dns.set('broken.test', { fault: 'servfail' });
  dns.set('_dmarc.broken.test', { fault: 'servfail' });
  const source = plainReply({ From: 'ada@broken.test' });
  const { reply } = await world.reply(message, source, 'MAIL FROM:<ada@broken.test>');
  const { spf, dmarc } = reply.authentication as Record<string, { result: string }>;
  assert.equal(spf?.result, 'temperror');
  assert.equal(dmarc?.result, 'temperror');
});

test('a DNS lookup that never ends is abandoned after the time limit', async () => {
  const silence = { lookUp: () => new Promise<never>(() => undefined) };
  const origin = { remoteAddress: '192.0.2.1', helo: 'mx.a.test', envelopeFrom: 'a@a.test' };
  const source = Buffer.from(plainReply({ From: 'a@a.test' }));
  const results = await authenticateReply(source, origin, silence, 'mx.test', 200);
  assert.equal(results.spf.result, 'temperror');
  assert.equal(results.dmarc.result, 'temperror');
});

test('only a message that asks for replies has a reply address', async () => {
  const { mail } = await shop.send('note');
  assert.equal(mail.headers['reply-to']?.[0] ?? null, null);
  const response = await shop.client.send({
    template: 'note',
    body: bodyWith({
      envelope: { replyToAddress: 'orders@shop.test' },
      content: { personalizationDataMap: {} },
      actions: { receiveReplies: true },
    }),
  });
  assert.equal(response.status, 400);
  assert.deepEqual(response.body.details, [
    {
      field: 'actions.receiveReplies',
      reason: 'can’t be used together with envelope.replyToAddress; remove one of them',
    },
  ]);
  await shop.client.accept({
    template: 'note',
    body: bodyWith({
      envelope: { replyToAddress: 'orders@shop.test' },
      content: { personalizationDataMap: {} },
      actions: { receiveReplies: false },
    }),
  });
});

test('templates with secret fields can’t receive replies, which would quote them', async () => {
  await shop.publish('code', '<p>{{Code}}</p>', { Code: { secret: true } });
  const response = await shop.client.send({
    template: 'code',
    body: bodyWith({
      content: { personalizationDataMap: { Code: '1234' } },
      actions: { receiveReplies: true },
    }),
  });
  assert.equal(response.status, 400);
  assert.match(response.text, /actions\.receiveReplies.*secret fields/);
});

test('a resent message has its own reply address', async () => {
  const message = await world.send();
  const again = await manage.post(`${account}/messages/${message.id}/resend`);
  assert.equal(again.status, 201, again.text);
  const id = String(again.body.messageId);
  const { body } = await manage.get(`${account}/messages/${id}`);
  const { replyTo } = body.content as { replyTo: string };
  assert.notEqual(replyTo, message.replyTo);
  assert.equal(addresses.read(replyTo)?.messageId, id);
});

test('replies of another account aren’t found', async () => {
  const message = await world.send();
  const { id } = await world.reply(message);
  const { database } = shop;
  await pool.query(
    `insert into account (id, name) values ('other-shop', 'Other') on conflict do nothing`,
  );
  const key = await addKey(database, 'other-shop' as AccountId);
  const other = new ManagementClient(shop.service, key);
  assert.equal((await other.get(`/accounts/other-shop/replies/${id}`)).status, 404);
  assert.deepEqual((await other.get('/accounts/other-shop/replies')).body.items, []);
});

test('replies are counted by result', async () => {
  const count = async (name: string): Promise<number> => {
    const { text } = await sendRequest(`${shop.service.url}/metrics`, { headers: metricsHeaders });
    const line = text.split('\n').find((found) => found.startsWith(`${name} `)) ?? '';
    return Number(line.slice(name.length));
  };
  const names = ['stored', 'repeated', 'unknown_address', 'loop'].map(
    (result) => `signalpost_replies_total{result="${result}"}`,
  );
  const all = () => Promise.all([...names, 'signalpost_reply_bytes_total'].map(count));
  const before = await all();
  const message = await world.send();
  const source = plainReply();
  await world.reply(message, source);
  await world.deliver(message.replyTo, source);
  await world.deliver('r-unknown@bounces.shop.test', source);
  await world.deliver(message.replyTo, source, `MAIL FROM:<${message.replyTo}>`);
  const added = (await all()).map((value, index) => value - (before[index] ?? 0));
  assert.deepEqual(added.slice(0, 4), [1, 1, 1, 1]);
  assert.ok(Number(added[4]) >= source.length, String(added));
});
