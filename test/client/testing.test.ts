import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Message,
  Signalpost,
  SignalpostError,
  UnauthorizedError,
} from '../../packages/client/src/index.ts';
import { createInbox, type FakeFields, fakeSignalpost } from '../../packages/client/src/testing.ts';
import type { TemplateSource } from '../../src/content/template/template-source.ts';
import { addKey } from '../support/api-key.ts';
import { FeedbackShop } from '../support/feedback-shop.ts';
import { serviceTokens } from '../support/service-tokens.ts';

const html = `<p>{{Order Number}} {{Note}} <a href="https://shop.test/?a=1&amp;b=2">Shop</a></p>
{{#Items}}<p>{{Name}} {{Price}}</p>{{/Items}}{{#Address}}<p>{{City}}</p>{{/Address}}`;
const fields = {
  'Order Number': {},
  Note: { default: '' },
  Items: { kind: 'list', default: [], fields: { Name: {}, Price: { default: '0' } } },
  Address: { kind: 'object', default: {}, fields: { City: {} } },
} as const satisfies FakeFields;

const shop = await FeedbackShop.openShared();
await shop.publish('receipt', html, fields as TemplateSource['fields']);
const key = await addKey(shop.database, shop.shop.id);
const real = new Signalpost({ url: shop.service.url, key });
const inbox = createInbox({ url: shop.service.url, token: serviceTokens.INBOX_TOKEN });
const suppressed = ['suppressed@simulator.test'];

/** What a caller learns: the fields that were accepted, or the error with its details. */
async function outcome(client: Signalpost, template: string, message: unknown): Promise<unknown> {
  try {
    const { suppressedRecipients } = await client.send(template, message as Message);
    return { suppressedRecipients };
  } catch (error) {
    if (!(error instanceof SignalpostError)) throw error;
    const { code, status, details } = error;
    const sorted = details.toSorted((a, b) => (a.field < b.field ? -1 : 1));
    return { code, status, details: sorted };
  }
}

async function compare(template: string, message: unknown): Promise<void> {
  const fake = new Signalpost(
    fakeSignalpost({ templates: { receipt: { fields } }, suppressed }).options,
  );
  assert.deepEqual(await outcome(fake, template, message), await outcome(real, template, message));
}

const good = { to: 'ada@people.test', data: { 'Order Number': 'A-1' } };
const long = (length: number) => 'x'.repeat(length);
for (const [what, message] of Object.entries({
  'a good message': good,
  'a missing value': { to: 'ada@people.test', data: {} },
  'no data': { to: 'ada@people.test' },
  'an empty value': { ...good, data: { 'Order Number': '' } },
  'an unknown value': { ...good, data: { ...good.data, Unknown: 'x' } },
  'a number in place of a text': { ...good, data: { 'Order Number': 7 } },
  'a text in place of a list': { ...good, data: { ...good.data, Items: 'x' } },
  'a list': { ...good, data: { ...good.data, Items: [{ Name: 'A', Price: '1' }] } },
  'an item without a value': { ...good, data: { ...good.data, Items: [{ Name: 'A' }, {}] } },
  'an item that is a text': { ...good, data: { ...good.data, Items: ['A'] } },
  'an item with a number': { ...good, data: { ...good.data, Items: [{ Name: 1 }] } },
  'too many items': { ...good, data: { ...good.data, Items: Array(501).fill({ Name: 'A' }) } },
  'a list in place of an object': { ...good, data: { ...good.data, Address: [] } },
  'an object': { ...good, data: { ...good.data, Address: { City: 'Rome' } } },
  'a long subject': { ...good, subject: long(91) },
  'a subject at its limit': { ...good, subject: '😀'.repeat(90) },
  'a long tag': { ...good, tag: long(49) },
  'an empty tag': { ...good, tag: '' },
  'a long identifier': { ...good, externalId: long(129) },
  'a wrong locale': { ...good, locale: 'not a locale' },
  'a locale': { ...good, locale: 'de-AT' },
  'a suppressed recipient': { ...good, to: suppressed[0] },
  'a suppressed copy': { ...good, cc: ['ben@people.test', suppressed[0]] },
  'too many copies': { ...good, cc: Array(6).fill('ben@people.test') },
  'no address': { ...good, to: '' },
  'a wrong copy': { ...good, bcc: ['ben'] },
}))
  test(`the fake and the service agree on ${what}`, () => compare('receipt', message));

test('the fake and the service agree on a template that doesn’t exist', () =>
  compare('none', good));

test('the fake and the service agree on addresses', async () => {
  const part = fc.string({ unit: fc.constantFrom(...'aZ0.-_+ @"('.split('')), maxLength: 8 });
  const address = fc
    .tuple(part, fc.constantFrom('', '@'), part, fc.constantFrom('', '.test', '.x'))
    .map((parts) => parts.join(''));
  await fc.assert(fc.asyncProperty(address, (to) => compare('receipt', { ...good, to })));
});

test('the fake and the service agree on values of any form', async () => {
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      fc.string({ maxLength: 3 }),
      fc.integer(),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('Name', 'Price', 'City', 'Other'), tie('json')),
    ),
  }));
  const data = fc.record(
    { 'Order Number': json, Items: json, Address: json, Note: json },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(data, (values) => compare('receipt', { ...good, data: values })),
  );
});

test('the fake keeps what it accepted, once for each idempotency key', async () => {
  const fake = fakeSignalpost({ templates: { receipt: { fields } } });
  const client = new Signalpost(fake.options);
  const message = { ...good, idempotencyKey: 'k-1' };
  const first = await client.send('receipt', message);
  assert.deepEqual(await client.send('receipt', message), first);
  await assert.rejects(() => client.send('receipt', { ...message, to: 'ben@people.test' }), {
    code: 'IDEMPOTENCY_MISMATCH',
  });
  assert.deepEqual(
    fake.messages.map(({ messageId, to, data }) => ({ messageId, to, data })),
    [{ messageId: first.messageId, to: good.to, data: good.data }],
  );
  assert.equal((await client.waitUntilDelivered(first.messageId)).state, 'delivered');
});

test('the fake responds to a batch message by message', async () => {
  const client = new Signalpost(fakeSignalpost({ templates: { receipt: { fields } } }).options);
  const results = await client.sendBatch('receipt', [good, { ...good, data: {} }]);
  assert.deepEqual(
    results.map((result) => (result.ok ? 'sent' : result.error.code)),
    ['sent', 'PERSONALIZATION_FAILURE'],
  );
});

test('the fake fails when told to', async () => {
  const fake = fakeSignalpost({ templates: { receipt: { fields } } });
  const client = new Signalpost(fake.options);
  fake.failNext(503);
  await client.send('receipt', good);
  fake.failNext(401);
  await assert.rejects(() => client.send('receipt', good), UnauthorizedError);
  assert.equal(fake.messages.length, 1);
});

test('the inbox waits for a message, and has its links', async () => {
  const to = `w${Math.random().toString(36).slice(2)}@people.test`;
  const waiting = inbox.waitFor(to, { subject: /^News/ });
  await real.send('receipt', { ...good, to });
  const mail = await waiting;
  assert.deepEqual(mail.links, ['https://shop.test/?a=1&b=2']);
  assert.equal((await inbox.list(to)).length, 1);
  await inbox.clear(to);
  assert.deepEqual(await inbox.list(to), []);
});

test('the inbox says what came instead of the message that a test waits for', async () => {
  const to = `w${Math.random().toString(36).slice(2)}@people.test`;
  await real.send('receipt', { ...good, to });
  await inbox.waitFor(to);
  await assert.rejects(
    () => inbox.waitFor(to, { subject: 'Welcome', timeout: 300 }),
    /with the subject Welcome within 300 ms. It got: News/,
  );
  await assert.rejects(() => inbox.waitFor('nobody@people.test', { timeout: 1 }), /None came/);
});

test('the inbox names the setting of a wrong token', async () => {
  const wrong = createInbox({ url: shop.service.url, token: 'wrong' });
  await assert.rejects(() => wrong.list('ada@people.test'), /INBOX_TOKEN/);
});
