import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTransport } from 'nodemailer';
import {
  InvalidIdError,
  SuppressedError,
  UnauthorizedError,
  ValidationError,
} from '../../packages/client/src/index.ts';
import { signalpostTransport } from '../../packages/client/src/nodemailer.ts';
import { addKey } from '../support/api-key.ts';
import { FeedbackShop } from '../support/feedback-shop.ts';
import { readInbox } from '../support/inbox-client.ts';
import { publishShopTemplate } from '../support/shop.ts';

const shop = await FeedbackShop.openShared();
await publishShopTemplate(shop.database, shop.shop, {
  id: 'mail',
  sender: 'orders@shop.test',
  source: { subject: 'News', previewText: '', html: '{{{HTML}}}', text: '{{Text}}', fields: {} },
});
await shop.publish('note', '<p>Order {{Order Number}}</p>');
const key = await addKey(shop.database, shop.shop.id);
const { url } = shop.service;
const mailer = createTransport(signalpostTransport({ url, key, template: 'mail' }));

/** @param mail sent to an address of its own. @returns what arrives */
async function deliver(mail: Record<string, unknown>, with_ = mailer) {
  const to = `r${Math.random().toString(36).slice(2)}@people.test`;
  const result = await with_.sendMail({ to, ...mail });
  const [received] = await readInbox(url, `?to=${encodeURIComponent(to)}&wait=30`);
  assert.ok(received);
  return { to, result, received };
}

test('a mail with HTML and a subject arrives as it was written', async () => {
  const { to, result, received } = await deliver({
    from: 'Demo Shop <orders@shop.test>',
    subject: 'Hello, Ada',
    html: '<p>Hello <b>Ada</b></p>',
    headers: { 'X-Order': 'A-1' },
    inReplyTo: '<earlier@shop.test>',
  });
  assert.equal(received.subject, 'Hello, Ada');
  assert.match(received.html ?? '', /Hello <b>Ada<\/b>/);
  assert.deepEqual(received.headers['x-order'], ['A-1']);
  assert.deepEqual(received.headers['in-reply-to'], ['<earlier@shop.test>']);
  assert.deepEqual(result.accepted, [to]);
  assert.equal(typeof result.messageId, 'string');
});

test('a mail with text only arrives as text, and one with HTML only has a text made from it', async () => {
  const plain = await deliver({ subject: 'Plain', text: 'Hello\nAda' });
  assert.match(plain.received.source, /^Content-Type: text\/plain/m);
  assert.doesNotMatch(plain.received.source, /multipart|text\/html/);
  assert.equal(plain.received.text, 'Hello\nAda\n');
  const { received } = await deliver({ subject: 'HTML', html: '<p>Hello <b>Ada</b></p>' });
  assert.equal(received.text, 'Hello Ada\n');
});

test('verify, isIdle and close say what Nodemailer expects', async () => {
  assert.equal(await mailer.verify(), true);
  assert.equal(await createTransport(signalpostTransport({ url, key })).verify(), true);
  const success = await new Promise((resolve, reject) => {
    mailer.verify((error, result) => (error === null ? resolve(result) : reject(error)));
  });
  assert.equal(success, true);
  const unknown = createTransport(signalpostTransport({ url, key, template: 'unknown' }));
  await assert.rejects(unknown.verify(), InvalidIdError);
  const other = key.slice(0, -1) + (key.endsWith('2') ? '3' : '2');
  const stranger = createTransport(signalpostTransport({ url, key: other, template: 'mail' }));
  await assert.rejects(stranger.verify(), UnauthorizedError);
  assert.equal(mailer.isIdle(), true);
  mailer.close();
});

test('attachments arrive, of text and of bytes', async () => {
  const { received } = await deliver({
    subject: 'Files',
    html: '<p>Files</p>',
    attachments: [
      { filename: 'a.txt', content: 'Grüße' },
      { filename: 'b.txt', content: Buffer.from('bytes') },
    ],
  });
  assert.match(received.source, new RegExp(Buffer.from('Grüße').toString('base64')));
  assert.match(received.source, new RegExp(Buffer.from('bytes').toString('base64')));
});

test('a mail that names a template gets its content from it', async () => {
  const withoutTemplate = createTransport(signalpostTransport({ url, key }));
  const mail = { template: 'note', data: { 'Order Number': 'A-1001' } };
  const { received } = await deliver(mail, withoutTemplate);
  assert.match(received.html ?? '', /Order A-1001/);
});

test('errors are those of the client', async () => {
  const mail = { to: 'ada@people.test', html: '<p>Hi</p>' };
  await assert.rejects(
    () => mailer.sendMail({ ...mail, subject: 'x'.repeat(91) }),
    (error) => error instanceof ValidationError && /content\.subjectLine/.test(error.message),
  );
  await assert.rejects(
    () => mailer.sendMail({ ...mail, to: 'suppressed@simulator.test' }),
    SuppressedError,
  );
});

for (const [what, mail, reason] of [
  ['two recipients', { to: 'ada@people.test, ben@people.test' }, /to must be one address/],
  ['no recipient', { cc: 'ada@people.test' }, /to must be one address/],
  ['a whole message', { to: 'ada@people.test', raw: 'Subject: Hi' }, /can't send a mail with raw/],
  [
    'an invitation',
    { to: 'ada@people.test', icalEvent: { content: 'BEGIN:VCALENDAR' } },
    /can't send a mail with icalEvent/,
  ],
  ['a template and HTML', { to: 'a@b.test', template: 'note', html: 'Hi' }, /leave them out/],
] as const)
  test(`a mail with ${what} is an error that says why`, async () => {
    await assert.rejects(() => mailer.sendMail({ ...mail }), reason);
  });

test('without a template, the error says where to name one', async () => {
  const bare = createTransport(signalpostTransport({ url, key }));
  await assert.rejects(
    () => bare.sendMail({ to: 'ada@people.test', html: 'Hi' }),
    /template is required/,
  );
});
