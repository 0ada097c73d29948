import assert from 'node:assert/strict';
import { createHash, createSecretKey, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import { sweepAttachments } from '../../../src/outcomes/retention/delete-old-store.ts';
import { erasePerson } from '../../../src/outcomes/retention/person-data-store.ts';
import { addKey } from '../../support/api-key.ts';
import { fillingContent, findRest } from '../../support/fill-message.ts';
import { startSink } from '../../support/mail-sink.ts';
import { type ReadMail, readSentMail } from '../../support/read-mail.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { addSender, getToken, publishShopTemplate, saveShop } from '../../support/shop.ts';
import { startTestService } from '../../support/test-service.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const sink = await startSink();
const { database, databaseUrl, clock, shop, service, client } = await openTestShop({
  movesClock: true,
  environment: { DELIVERY: 'relay', SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` },
});
await publishShopTemplate(database, shop, {
  id: 't-logo',
  sender: 'orders@shop.test',
  source: {
    subject: 'Logo',
    previewText: '',
    html: '<p>Hello</p><img src="cid:logo@shop.test" alt="Shop">',
    text: 'Hello',
    fields: {},
  },
});

const mebibyte = 1_024 * 1_024;
const pdf = Buffer.from('%PDF-1.7\nA receipt');
const png = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');

interface File {
  readonly filename: string;
  readonly contentType: string;
  readonly content: string;
  readonly contentId?: string;
}

function file(content: Buffer, changes: Partial<File> = {}): File {
  return {
    filename: 'receipt.pdf',
    contentType: 'application/pdf',
    content: content.toString('base64'),
    ...changes,
  };
}

const blob = (bytes: Buffer, changes: Partial<File> = {}): File =>
  file(bytes, { filename: 'data.bin', contentType: 'application/octet-stream', ...changes });

let count = 0;

function newAddress(): string {
  count += 1;
  return `r${count}@people.test`;
}

function bodyOf(attachments: readonly unknown[], to = newAddress()) {
  return bodyWith({
    envelope: { toAddress: to },
    content: { personalizationDataMap: { 'Order Number': 'A' }, attachments },
    actions: { trackOpens: false, trackClicks: false },
  });
}

function send(attachments: readonly unknown[], options: object = {}) {
  return client.send({ body: bodyOf(attachments), ...options });
}

async function detailsOf(attachments: readonly unknown[]): Promise<unknown> {
  const response = await send(attachments);
  if (response.status === 200) return 'OK';
  assert.equal(response.body.errorName, 'VALIDATION_FAILED');
  return response.body.details;
}

async function sendAndReceive(
  attachments: readonly unknown[],
  template = 't-0001',
): Promise<{ readonly source: string; readonly mail: ReadMail }> {
  const to = newAddress();
  const response = await client.send({ template, body: bodyOf(attachments, to) });
  assert.equal(response.status, 200, response.text);
  const source = await waitFor(
    'the mail',
    () => sink.mails.find((mail) => mail.to.includes(to))?.source,
  );
  return { source, mail: readSentMail(source) };
}

const contentCount = async (): Promise<number> =>
  (await database.pool.query('select from attachment_content')).rowCount ?? 0;

test('an attachment arrives with its name, type and content', async () => {
  const { source, mail } = await sendAndReceive([file(pdf)]);
  assert.equal(mail.files.length, 1);
  const [attachment] = mail.files;
  assert.equal(attachment?.filename, 'receipt.pdf');
  assert.equal(attachment?.type, 'application/pdf');
  assert.match(source, /^Content-Disposition: attachment;/m);
  assert.deepEqual(attachment?.content, pdf);
  assert.match(source, /^Content-Type: multipart\/mixed;/m);
  assert.match(String(mail.html), /your order is A/);
});

test('an attachment with a contentId is an inline part beside the HTML, in multipart/related', async () => {
  const logo = { filename: 'logo.png', contentType: 'image/png', contentId: 'logo@shop.test' };
  const { source, mail } = await sendAndReceive([file(png, logo), file(pdf)], 't-logo');
  const types = [...source.matchAll(/^Content-Type: (multipart\/\w+)/gm)].map(([, type]) => type);
  assert.deepEqual(types, ['multipart/mixed', 'multipart/related', 'multipart/alternative']);
  const inline = mail.files.find(({ contentId }) => contentId !== undefined);
  assert.equal(inline?.contentId, 'logo@shop.test');
  assert.match(source, /^Content-Disposition: inline;/m);
  assert.deepEqual(inline?.content, png);
  assert.match(mail.html ?? '', /src="cid:logo@shop/);
  assert.equal(mail.text?.trim(), 'Hello');
});

for (const filename of [
  'Überweisung für März.pdf',
  '領収書.pdf',
  `${'счёт-'.repeat(40)}.pdf`,
  'quo"te\\less; x=1.pdf'.replace('\\', ''),
  '100%25 off.pdf',
  `${'a'.repeat(251)}.pdf`,
])
  test(`the name ${filename.slice(0, 30)} survives, in lines of plain ASCII`, async () => {
    const { source, mail } = await sendAndReceive([file(pdf, { filename })]);
    assert.equal(mail.files[0]?.filename, filename);
    assert.match(source, /^[\r\n\t -~]*$/);
    const part = source.slice(source.indexOf('Content-Type: application/pdf'));
    assert.ok(part.split('\r\n').every((line) => line.length <= 78));
  });

test('binary content is sent in base64 lines of 76 characters', async () => {
  const content = randomBytes(300_001);
  const { source, mail } = await sendAndReceive([blob(content)]);
  assert.ok(mail.files[0]?.content.equals(content));
  const start = source.indexOf('data.bin');
  const lines = source
    .slice(start)
    .split('\r\n')
    .filter((line) => /^[\w+/=]{60,}$/.test(line));
  assert.ok(lines.slice(0, -1).every((line) => line.length === 76));
});

test('a message can have 20 attachments and not one more', async () => {
  const files = Array.from({ length: 21 }, (_, index) => file(pdf, { filename: `${index}.pdf` }));
  const { mail } = await sendAndReceive(files.slice(0, 20));
  assert.equal(mail.files.length, 20);
  assert.deepEqual(await detailsOf(files), [
    { field: 'content.attachments', reason: 'must not have more than 20 entries' },
  ]);
});

const fieldOf = (details: unknown): string =>
  (details as { readonly field: string }[]).map(({ field }) => field).join();

const invalid: readonly (readonly [
  what: string,
  changes: Record<string, unknown>,
  field: string,
])[] = [
  ['a name of 256 characters', { filename: 'a'.repeat(256) }, 'filename'],
  ['an empty name', { filename: '' }, 'filename'],
  ['a blank name', { filename: '  ' }, 'filename'],
  ['a path as name', { filename: '../a.pdf' }, 'filename'],
  ['a line break in the name', { filename: 'a\r\nBcc: b@c.test' }, 'filename'],
  ['a name that turns its direction', { filename: 'fdp.\u202efdp' }, 'filename'],
  ['a type that is none', { contentType: 'pdf' }, 'contentType'],
  ['a header in the type', { contentType: 'text/plain\r\nX-A: b' }, 'contentType'],
  ['a multipart type', { contentType: 'multipart/mixed' }, 'contentType'],
  ['a message type', { contentType: 'message/rfc822' }, 'contentType'],
  ['a contentId with brackets', { contentId: '<logo>' }, 'contentId'],
  ['a contentId of 101 characters', { contentId: 'a'.repeat(101) }, 'contentId'],
  ['content that is not base64', { content: '!!!!' }, 'content'],
  ['content without padding', { content: 'JVBERi0' }, 'content'],
  ['content with line breaks', { content: 'JVBE\nRi0x' }, 'content'],
  ['base64 for URLs', { content: 'JVBERi0x_-__' }, 'content'],
  ['no content', { content: '' }, 'content'],
  ['an address to fetch from', { path: 'https://x.test/a.pdf' }, 'path'],
];

for (const [what, changes, field] of invalid)
  test(`${what} fails validation`, async () => {
    const details = await detailsOf([{ ...file(pdf), ...changes }]);
    assert.equal(fieldOf(details), `content.attachments[0].${field}`);
  });

test('two attachments can’t share a contentId', async () => {
  const one = file(pdf, { contentId: 'a' });
  assert.equal(fieldOf(await detailsOf([one, one])), 'content.attachments[1].contentId');
});

const windowsProgram = Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100)]);
const refused: readonly (readonly [what: string, File])[] = [
  ['a program by its extension', blob(randomBytes(50), { filename: 'invoice.pdf.EXE' })],
  ['an extension before dots and spaces', blob(randomBytes(50), { filename: 'a.exe. .' })],
  ['a program by its type', blob(randomBytes(50), { contentType: 'application/x-msdownload' })],
  ['a Windows program by its content', blob(windowsProgram)],
  ['a Linux program by its content', blob(Buffer.from('\x7fELF\x02\x01'))],
  ['a script by its content', blob(Buffer.from('#!/bin/sh\n'))],
  ['a PDF that is none', file(Buffer.from('Hello'))],
  ['a picture that is a PDF', file(pdf, { filename: 'a.png', contentType: 'image/png' })],
  ['a text that is a PDF', file(pdf, { filename: 'a.txt', contentType: 'text/plain' })],
];

for (const [what, attachment] of refused)
  test(`${what} is refused`, async () => {
    assert.equal(fieldOf(await detailsOf([attachment])), 'content.attachments[0]');
  });

test('a table of text or HTML with an Office type is accepted, but nothing binary', async () => {
  const excel = { filename: 'report.csv', contentType: 'application/vnd.ms-excel' };
  for (const text of ['Name;Sum\r\nAnn;1\r\n', '<table><tr><td>Ann</td></tr></table>'])
    assert.equal(await detailsOf([file(Buffer.from(text), excel)]), 'OK');
  for (const binary of [pdf, Buffer.from('a\0b')])
    assert.equal(fieldOf(await detailsOf([file(binary, excel)])), 'content.attachments[0]');
});

test('an operator can change what is refused', async () => {
  const lenient = await startTestService({
    databaseUrl,
    worker: false,
    environment: { ATTACHMENT_REFUSED_TYPES: '.pdf, text/csv' },
  });
  const other = new SendClient(lenient, await getToken(lenient, shop));
  const statusOf = async (attachment: File) =>
    (await other.send({ body: bodyOf([attachment]) })).status;
  assert.equal(await statusOf(blob(windowsProgram, { filename: 'a.exe' })), 200);
  assert.equal(await statusOf(file(Buffer.from('no pdf'), { filename: 'a.x' })), 200);
  assert.equal(await statusOf(file(pdf)), 400);
  assert.equal(await statusOf(blob(pdf, { contentType: 'text/csv' })), 400);
  await lenient.stop();
});

test('a message can be as large as the account’s limit as sent and not larger, with a token and a key', async () => {
  const limit = 300 * 1_024;
  await saveShop(database, { attachmentLimit: limit });
  const rest = await waitFor(
    'the limit',
    async () =>
      (await detailsOf([blob(Buffer.alloc(250 * 1_024))])) !== 'OK' && findRest(client, limit),
  );
  const fitting = blob(fillingContent(limit, rest));
  const { source } = await sendAndReceive([fitting]);
  assert.ok(source.length <= limit, `${source.length}`);
  assert.ok(source.length > limit - 16 * 1_024, `${source.length}`);
  const key = new SendClient(service, await addKey(database, shop.id));
  const over = blob(Buffer.alloc(Buffer.from(fitting.content, 'base64').length + 57, 'x'));
  for (const caller of [client, key]) {
    assert.equal((await caller.send({ body: bodyOf([fitting]) })).status, 200);
    const response = await caller.send({ body: bodyOf([over]) });
    assert.equal(response.status, 400);
    assert.match(JSON.stringify(response.body.details), /larger than 300 KiB as sent/);
  }
  await saveShop(database);
});

test('the default limit is 10 MiB of the message as sent', async () => {
  await waitFor(
    'the default',
    async () => (await detailsOf([blob(Buffer.alloc(400 * 1_024))])) === 'OK',
  );
  const fits = fillingContent(10 * mebibyte, 20 * 1_024);
  const { mail } = await sendAndReceive([blob(fits)]);
  assert.ok(mail.files[0]?.content.equals(fits));
  const details = await detailsOf([blob(fillingContent(10 * mebibyte, -100))]);
  assert.match(JSON.stringify(details), /larger than 10 MiB as sent/);
});

test('an account whose limit is 0 sends no attachments and no more than 256 KiB', async () => {
  await saveShop(database, { attachmentLimit: 0 });
  await waitFor('the limit', async () => (await detailsOf([file(pdf)])) !== 'OK');
  assert.equal(fieldOf(await detailsOf([file(pdf)])), 'content.attachments');
  assert.deepEqual(await detailsOf([blob(Buffer.alloc(300_000))]), [
    { field: '', reason: 'the body is larger than 256 KiB' },
  ]);
  await saveShop(database);
  await waitFor('the default', async () => (await detailsOf([file(pdf)])) === 'OK');
});

test('a body can be large only because of its attachments', async () => {
  const padding = 'p'.repeat(200 * 1_024);
  const large = blob(Buffer.alloc(300_000));
  const bodyOfValues = (extra: number) =>
    bodyWith({
      content: {
        attachments: [large],
        personalizationDataMap: { 'Order Number': 'A', content: padding + 'x'.repeat(extra) },
      },
    });
  assert.equal((await client.send({ body: bodyOfValues(0) })).status, 200);
  const response = await client.send({ body: bodyOfValues(60 * 1_024) });
  assert.deepEqual(response.body.details, [
    {
      field: '',
      reason: 'the body is larger than 256 KiB without the contents of its attachments',
    },
  ]);
});

test('4.3, 7: a large request is replayed by its key before its body and its sender are checked', async () => {
  const body = bodyOf([blob(randomBytes(300_000))]);
  const options = { body, headers: { 'idempotency-key': 'large' } };
  const first = await client.send(options);
  assert.equal(first.status, 200, first.text);
  const allow = async (verified: boolean): Promise<void> => {
    await addSender(database, shop.id, 'orders@shop.test', {
      displayNames: ['Demo Shop', 'Orders'],
      verified,
    });
    await waitFor('the change', async () => ((await send([])).status === 200) === verified);
  };
  await allow(false);
  const replay = await client.send(options);
  await allow(true);
  const wrongType = { ...options.headers, 'content-type': 'text/plain' };
  for (const repeated of [replay, await client.send({ body, headers: wrongType })]) {
    assert.equal(repeated.text, first.text);
    assert.equal(repeated.headers.get('idempotency-replayed'), 'true');
  }
});

test('a value named content in a large body is kept as it is', async () => {
  const text = 'abcd'.repeat(1_000);
  await publishShopTemplate(database, shop, {
    id: 't-content',
    sender: 'orders@shop.test',
    source: { subject: 'Value', previewText: '', html: '<p>{{content}}</p>', fields: {} },
  });
  const to = 'value@people.test';
  const response = await client.send({
    template: 't-content',
    body: bodyWith({
      envelope: { toAddress: to },
      content: {
        personalizationDataMap: { content: text },
        attachments: [blob(Buffer.alloc(300_000))],
      },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  assert.equal(response.status, 200, response.text);
  const source = await waitFor(
    'the mail',
    () => sink.mails.find((mail) => mail.to.includes(to))?.source,
  );
  assert.ok((readSentMail(source).html ?? '').includes(text));
});

/** Sends the body in pieces, without announcing its length. */
function sendChunked(body: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${service.url}/ete/v1/email/46100/t-0001`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    request.on('error', reject);
    for (let at = 0; at < body.length; at += 50_000) request.write(body.slice(at, at + 50_000));
    request.end();
  });
}

test('a large body can come without its length, up to the limit', async () => {
  const token = await addKey(database, shop.id);
  const small = JSON.stringify(bodyOf([file(pdf)]));
  const large = JSON.stringify(bodyOf([blob(randomBytes(2 * mebibyte))]));
  const tooLarge = JSON.stringify(bodyOf([blob(Buffer.alloc(9 * mebibyte))]));
  assert.equal(await sendChunked(small, token), 200);
  assert.equal(await sendChunked(large, token), 200);
  assert.equal(await sendChunked(tooLarge, token), 400);
});

test('a stranger’s large body is not read', async () => {
  const response = await send([blob(Buffer.alloc(mebibyte))], { token: 'none' });
  assert.equal(response.status, 401);
});

test('the same key and body give the same response, another content doesn’t', async () => {
  const headers = { 'idempotency-key': 'with-attachment' };
  const body = bodyOf([blob(randomBytes(400_000))]);
  const first = await client.send({ body, headers });
  const again = await client.send({ body, headers });
  assert.equal(first.status, 200);
  assert.equal(again.body.messageId, first.body.messageId);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  const other = bodyOf([blob(randomBytes(400_000))], 'r0@other.test');
  assert.equal((await client.send({ body: other, headers })).status, 422);
});

test('the same content is stored once for an account, however many messages use it', async () => {
  const content = randomBytes(5_000);
  const before = await contentCount();
  await Promise.all(
    Array.from({ length: 20 }, () => send([blob(content), blob(content, { filename: 'b.bin' })])),
  );
  assert.equal(await contentCount(), before + 1);
  const { rows } = await database.pool.query(
    'select count(*)::int as count from message_attachment where sha256 = $1',
    [createHash('sha256').update(content).digest()],
  );
  assert.equal(rows[0]?.count, 20);
});

test('messages with and without attachments, send times and deadlines are accepted side by side', async () => {
  const later = new Date(clock.now() + 3_600_000).toISOString();
  const bodies = [{}, { sendAt: later }, { deliverBefore: later }].flatMap((timing) =>
    [[], [blob(randomBytes(500))]].map((attachments) => ({
      ...bodyOf(attachments),
      actions: { trackOpens: false, trackClicks: false, ...timing },
    })),
  );
  const sendAll = () =>
    Promise.all(
      bodies.map((body, index) =>
        client.send({ body, headers: { 'idempotency-key': `side by side ${index}` } }),
      ),
    );
  const responses = await sendAll();
  const stored = await Promise.all(
    responses.map(async ({ status, body, text }) => {
      assert.equal(status, 200, text);
      const { rows } = await database.pool.query(
        `select m.retention_days as class, (select count(*)::int from message_attachment a
           where a.message_id = m.id and a.retention_days = m.retention_days) as links
         from message m where m.id = $1`,
        [body.messageId],
      );
      return rows[0];
    }),
  );
  assert.deepEqual(
    stored,
    [90, 10_090, 90].flatMap((days) => [
      { class: days, links: 0 },
      { class: days, links: 1 },
    ]),
  );
  const replayed = await sendAll();
  assert.deepEqual(
    replayed.map(({ body }) => body.messageId),
    responses.map(({ body }) => body.messageId),
  );
});

test('a Bcc recipient gets the attachments', async () => {
  const bcc = newAddress();
  const body = bodyOf([file(pdf)]);
  const response = await client.send({
    body: { ...body, envelope: { toAddress: newAddress(), bccAddressList: [bcc] } },
  });
  assert.equal(response.status, 200, response.text);
  const mail = await waitFor('the copy', () => sink.mails.find(({ to }) => to.includes(bcc)));
  const { files } = readSentMail(mail.source);
  assert.deepEqual(files[0]?.content, pdf);
});

test('a message that is sent again has its attachments, although the sweep was due', async () => {
  const content = randomBytes(2_500);
  const to = newAddress();
  const response = await client.send({ body: bodyOf([blob(content)], to) });
  const mailsTo = () => sink.mails.filter((mail) => mail.to.includes(to));
  await waitFor('the mail', () => mailsTo().length === 1);
  await database.pool.query(`update attachment_content set check_at = now() - interval '1 minute'`);
  const resent = await sendRequest(
    `${service.url}/manage/v1/accounts/46100/messages/${response.body.messageId}/resend`,
    { method: 'POST', headers: { authorization: `Bearer ${await addKey(database, shop.id)}` } },
  );
  assert.equal(resent.status, 201, resent.text);
  await waitFor('the other mail', () => mailsTo().length === 2);
  const mail = readSentMail(mailsTo()[1]?.source ?? '');
  assert.ok(mail.files[0]?.content.equals(content));
  const { rowCount } = await database.pool.query(
    'select from message_attachment where message_id = $1',
    [resent.body.messageId],
  );
  assert.equal(rowCount, 1);
});

test('the management API lists attachments and gives them out as files', async () => {
  const content = randomBytes(1_200_000);
  const response = await send([blob(content, { filename: 'Größe (1).bin' })]);
  const messageUrl = `${service.url}/manage/v1/accounts/46100/messages/${response.body.messageId}`;
  const headers = { authorization: `Bearer ${await addKey(database, shop.id)}` };
  const { body } = await sendRequest(messageUrl, { headers });
  assert.deepEqual((body.content as { readonly attachments: unknown }).attachments, [
    {
      filename: 'Größe (1).bin',
      contentType: 'application/octet-stream',
      size: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    },
  ]);
  const download = await fetch(`${messageUrl}/attachments/1`, { headers });
  assert.equal(download.status, 200);
  assert.equal(download.headers.get('content-type'), 'application/octet-stream');
  assert.equal(
    download.headers.get('content-disposition'),
    "attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe%20%281%29.bin",
  );
  assert.ok(Buffer.from(await download.arrayBuffer()).equals(content));
  assert.equal((await sendRequest(`${messageUrl}/attachments/2`, { headers })).status, 404);
  assert.equal((await sendRequest(`${messageUrl}/attachments/1`)).status, 401);
  const limited = await addKey(database, shop.id, { scopes: ['messages:send'] });
  const denied = { authorization: `Bearer ${limited}` };
  assert.equal((await sendRequest(`${messageUrl}/attachments/1`, { headers: denied })).status, 403);
});

test('the sweep keeps contents that messages use and deletes the others, once nothing can use them anymore', async () => {
  const used = randomBytes(100);
  const orphan = randomBytes(100);
  const hashOf = (content: Buffer) => createHash('sha256').update(content).digest();
  assert.equal(await detailsOf([blob(used)]), 'OK');
  await database.pool.query(
    `insert into attachment_content (account_id, sha256, content, check_at)
     values ('46100', $1, $2, now() + interval '1 hour')`,
    [hashOf(orphan), orphan],
  );
  const stored = async (content: Buffer) =>
    (
      await database.pool.query('select from attachment_content where sha256 = $1', [
        hashOf(content),
      ])
    ).rowCount;
  await sweepAttachments(database.kysely);
  assert.equal(await stored(orphan), 1);
  await database.pool.query(`update attachment_content set check_at = now() - interval '1 minute'`);
  await sweepAttachments(database.kysely);
  assert.equal(await stored(orphan), 0);
  assert.equal(await stored(used), 1);
});

test('an accept beside the sweep never leaves a message without its content', async () => {
  const content = randomBytes(2_000);
  let running = true;
  const sweeping = (async () => {
    while (running) {
      await database.pool.query(`update attachment_content set check_at = now() - interval '1 s'
        where not exists (select from message_attachment a where a.sha256 = attachment_content.sha256)`);
      await sweepAttachments(database.kysely);
    }
  })();
  for (let round = 0; round < 20; round += 1) await send([blob(content)]);
  running = false;
  await sweeping;
  const { rowCount } = await database.pool.query(
    `select from message_attachment a where not exists (
       select from attachment_content c where c.account_id = a.account_id and c.sha256 = a.sha256)`,
  );
  assert.equal(rowCount, 0);
});

test('erasing a person removes the links of their messages, and then the contents', async () => {
  const content = randomBytes(3_000);
  const to = 'erased@people.test';
  const response = await client.send({ body: bodyOf([blob(content)], to) });
  assert.equal(response.status, 200);
  await waitFor('the mail', () => sink.mails.find((mail) => mail.to.includes(to)));
  await waitFor('the search rows', async () => {
    const { rowCount } = await database.pool.query(
      'select from message_search where address = $1',
      [to],
    );
    return rowCount === 1;
  });
  await erasePerson(database.kysely, {
    accountId: shop.id,
    address: to as ComparableAddress,
    requestedBy: 'officer',
    hashKey: createSecretKey(Buffer.alloc(32, 1)),
    keepSuppressions: false,
  });
  const linked = await database.pool.query('select from message_attachment where message_id = $1', [
    response.body.messageId,
  ]);
  assert.equal(linked.rowCount, 0);
  await database.pool.query(
    `update attachment_content set check_at = check_at - interval '61 minutes'`,
  );
  await sweepAttachments(database.kysely);
  const { rowCount } = await database.pool.query(
    'select from attachment_content where sha256 = $1',
    [createHash('sha256').update(content).digest()],
  );
  assert.equal(rowCount, 0);
});
