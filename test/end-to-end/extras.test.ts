import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSink } from '../support/mail-sink.ts';
import { readSentMail } from '../support/read-mail.ts';
import { bodyWith } from '../support/send-client.ts';
import { openTestShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

const sink = await startSink();
const { client } = await openTestShop({
  environment: { SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` },
});

let sent = 0;

/** Sends to a unique address and reads what the server received. */
async function arrive(changes: Parameters<typeof bodyWith>[0]) {
  sent += 1;
  const toAddress = `reader-${sent}@example.test`;
  const body = bodyWith({ ...changes, envelope: { ...changes.envelope, toAddress } });
  const response = await client.send({ body });
  assert.equal(response.status, 200, response.text);
  const mail = await waitFor('the mail', () => sink.mails.find(({ to }) => to.includes(toAddress)));
  assert.match(mail.source, /^[\r\n\t -~]*$/, 'the mail is 7-bit');
  for (const line of mail.source.split('\r\n')) assert.ok(line.length <= 998);
  return { toAddress, source: mail.source, parsed: readSentMail(mail.source) };
}

for (const name of [
  'Ada Lovelace',
  'Lovelace, Ada (Ms) "the first" \\o/',
  'Žofie Nováková 😀',
  '山田太郎'.repeat(50),
  '=?utf-8?Q?Ada?=',
  'thief@example.test',
  'undisclosed-recipients:;',
])
  test(`the To header has the name ${name.slice(0, 40)}`, async () => {
    const { parsed, toAddress } = await arrive({ envelope: { toDisplayName: name } });
    assert.deepEqual(parsed.mailboxes('to'), [{ address: toAddress, name }]);
    assert.equal(parsed.fields.get('bcc'), undefined);
  });

test('all headers of a request arrive as sent, and the message’s own stay', async () => {
  const headers = {
    'X-Order': 'A-1001',
    'X-Street': 'Straße 😀',
    'X-Long': `${'word '.repeat(100)}end`,
    'X-Token': 'x'.repeat(900),
    'X-Encoded': '=?utf-8?Q?not_this?=',
    'List-ID': 'Orders <orders.shop.test>',
    References: Array.from({ length: 20 }, (_, n) => `<m${n}@shop.test>`).join(' '),
    'In-Reply-To': '<m19@shop.test>',
    Importance: 'high',
    'Feedback-ID': 'receipts:shop:mail:signalpost',
  };
  const { parsed, source } = await arrive({ content: { headers } });
  assert.equal(parsed.subject, 'Your order A-1001');
  assert.equal(parsed.fields.get('x-order'), 'A-1001');
  assert.equal(parsed.decoded('x-street'), 'Straße 😀');
  assert.equal(parsed.fields.get('x-long'), headers['X-Long']);
  assert.equal(parsed.fields.get('x-token'), headers['X-Token']);
  assert.equal(parsed.decoded('x-encoded'), '=?utf-8?Q?not_this?=');
  assert.equal(parsed.fields.get('importance'), 'high');
  assert.equal(parsed.fields.get('feedback-id'), headers['Feedback-ID']);
  assert.equal(parsed.fields.get('in-reply-to'), '<m19@shop.test>');
  assert.equal(parsed.fields.get('references')?.split(' ').length, 20);
  assert.match(source, /\r\nList-ID: Orders <orders\.shop\.test>\r\n/);
  assert.match(source, /\r\nX-Token: x{900}\r\n/);
  assert.match(source, /\r\nAuto-Submitted: auto-generated\r\n/);
});

test('attributes are not in the mail', async () => {
  const { source } = await arrive({ metadata: { attributes: { store: 'secret-store-17' } } });
  assert.equal(source.includes('secret-store'), false);
});

test('the names of headers are frozen with the message, so every attempt sends the same bytes', async () => {
  const headers = { 'X-B': 'ü', 'x-a': 'second' };
  const { source } = await arrive({ content: { headers } });
  assert.match(source, /\r\nX-B: =\?utf-8\?\w\?[^?]+\?=\r\nx-a: second\r\n/);
});
