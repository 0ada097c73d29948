import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAccountFirst } from '../support/account-first.ts';
import { type CapturedMail, readInbox } from '../support/inbox-client.ts';
import { bodyWith } from '../support/send-client.ts';
import { addSender, publishShopTemplate } from '../support/shop.ts';
import { openSharedShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, service, shop, client } = await openSharedShop();
await publishShopTemplate(database, shop, { id: 't-creator' });
await addSender(database, shop.id, shop.owner.email, { displayNames: [] });
await addSender(database, shop.id, 'any@shop.test', { displayNames: ['*'] });

let sent = 0;

/** Sends to a unique address and reads the mail that arrives there. */
async function arrive(
  changes: Parameters<typeof bodyWith>[0] = {},
  template = 't-0001',
): Promise<CapturedMail & { readonly messageId: string }> {
  sent += 1;
  const toAddress = `reader-${sent}@example.test`;
  const body = bodyWith({ ...changes, envelope: { ...changes.envelope, toAddress } });
  const messageId = await client.accept({ body, template });
  const [mail] = await readInbox(service.url, `?to=${toAddress}&wait=60`);
  assert.ok(mail);
  return { ...mail, messageId };
}

test('2.2: From is the template’s sender with its first registered name, and there is no Reply-To', async () => {
  const mail = await arrive();
  assert.deepEqual(mail.headers.from, ['Demo Shop <orders@shop.test>']);
  assert.equal(mail.headers['reply-to'], undefined);
  assert.equal(mail.envelopeFrom, 'orders@shop.test');
});

test('2.2: without a sender in the template, From is the template’s creator', async () => {
  const mail = await arrive({}, 't-creator');
  assert.deepEqual(mail.headers.from, [shop.owner.email]);
});

test('2.2: fromAddress and fromDisplayName replace the template’s sender', async () => {
  const mail = await arrive({
    envelope: { fromAddress: 'any@shop.test', fromDisplayName: 'Zoë, of “Demo”' },
  });
  assert.deepEqual(mail.headers.from, ['Zoë, of “Demo” <any@shop.test>']);
});

test('2.2: replyToAddress is the Reply-To', async () => {
  const mail = await arrive({ envelope: { replyToAddress: 'any@shop.test' } });
  assert.deepEqual(mail.headers['reply-to'], ['any@shop.test']);
});

test('2.2: subject and preview text come from the template, filled with values and defaults', async () => {
  const mail = await arrive();
  assert.equal(mail.subject, 'Your order A-1001');
  assert.match(mail.html ?? '', /Thank you, there/);
  assert.match(mail.html ?? '', /Hello there, your order is A-1001\./);
  assert.match(mail.text ?? '', /Hello there, your order is A-1001\./);
});

test('2.2: subjectLine and previewText replace those of the template and may use fields', async () => {
  const mail = await arrive({
    content: {
      subjectLine: '{{First Name}}: 注文 {{Order Number}} 🎉',
      previewText: 'Soon, {{First Name}}',
    },
  });
  assert.equal(mail.subject, 'there: 注文 A-1001 🎉');
  assert.match(mail.html ?? '', /Soon, there/);
  assert.doesNotMatch(mail.html ?? '', /Thank you, there/);
});

test('2.2: cc addresses are in Cc, and each gets the message', async () => {
  const ccAddressList = ['one@example.test', 'two@example.test'];
  const mail = await arrive({ envelope: { ccAddressList } });
  assert.deepEqual(mail.headers.cc, ['one@example.test, two@example.test']);
  for (const address of ccAddressList) {
    const [copy] = await readInbox(service.url, `?to=${address}&wait=30`);
    assert.equal(copy?.source, mail.source);
  }
});

test('values are escaped for their context and cannot break a header', async () => {
  const mail = await arrive({
    content: {
      personalizationDataMap: {
        'First Name': '<script>alert(1)</script>',
        'Order Number': 'A-1\r\nBcc: thief@example.test',
      },
    },
  });
  assert.equal(mail.headers.bcc, undefined);
  assert.equal(mail.subject, 'Your order A-1 Bcc: thief@example.test');
  assert.match(mail.html ?? '', /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  assert.match(mail.text ?? '', /<script>alert\(1\)<\/script>/);
});

test('the status of a delivered message shows its state and its events', async () => {
  const { messageId } = await arrive();
  const status = await waitFor('the delivered state', async () => {
    const response = await client.status(messageId);
    return response.body.state === 'delivered' && response.body;
  });
  assert.equal(status.nextAttempt ?? null, null);
});

testAccountFirst(5);
