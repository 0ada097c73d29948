import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../support/api-key.ts';
import { requireConformity } from '../../support/conform.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { openTestShop } from '../../support/test-shop.ts';

const environment = { REFUSED_HEADERS: 'X-Priority, x-internal-*' };
const { database, shop, service, client } = await openTestShop({ worker: false, environment });
const clients = [client, new SendClient(service, await addKey(database, shop.id))] as const;

/** The response to a token and to a key, which must be the same. */
async function problemsOf(
  changes: Parameters<typeof bodyWith>[0],
): Promise<'OK' | readonly string[]> {
  const [first, second] = await Promise.all(
    clients.map(async (client) => {
      const response = await client.send({ body: bodyWith(changes) });
      if (response.status === 200) return 'OK';
      assert.equal(response.status, 400, response.text);
      assert.equal(response.body.errorName, 'VALIDATION_FAILED');
      const details = response.body.details as { field: string; reason: string }[];
      return details.map(({ field, reason }) => `${field}: ${reason}`);
    }),
  );
  assert.deepEqual(first, second);
  return first ?? [];
}

const headers = (values: unknown) => problemsOf({ content: { headers: values } });
const attributes = (values: unknown) => problemsOf({ metadata: { attributes: values } });
const recipientName = (toDisplayName: unknown) => problemsOf({ envelope: { toDisplayName } });

function numbered(count: number, name: (n: number) => string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [name(n), 'x']));
}

for (const [name, character] of [
  ['letters', 'a'],
  ['emoji', '😀'],
] as const) {
  test(`toDisplayName can have 200 characters and not one more (${name})`, async () => {
    assert.equal(await recipientName(character.repeat(200)), 'OK');
    assert.deepEqual(await recipientName(character.repeat(201)), [
      'envelope.toDisplayName: must not be longer than 200 characters',
    ]);
  });

  test(`an attribute can have a name of 40 and a value of 200 characters and not one more (${name})`, async () => {
    const longest = character.repeat(40);
    assert.equal(await attributes({ [longest]: character.repeat(200) }), 'OK');
    assert.deepEqual(await attributes({ [longest + character]: 'x' }), [
      'metadata.attributes: has a name longer than 40 characters',
    ]);
    assert.deepEqual(await attributes({ a: character.repeat(201) }), [
      'metadata.attributes.a: must not be longer than 200 characters',
    ]);
  });
}

test('toDisplayName has no control characters, and an empty one counts as omitted', async () => {
  assert.equal(await recipientName(''), 'OK');
  assert.equal(await recipientName('  '), 'OK');
  for (const text of ['Ada\r\nBcc: thief@example.test', 'Ada\n', '\u0085Ada', 'A\u2028b', 'A\tb'])
    assert.deepEqual(await recipientName(text), [
      'envelope.toDisplayName: must not contain control characters or line breaks',
    ]);
  assert.deepEqual(await recipientName(['Ada']), ['envelope.toDisplayName: must be a string']);
});

test('a message can have 20 attributes and not one more, and their values are strings', async () => {
  assert.equal(await attributes(numbered(20, (n) => `key ${n}`)), 'OK');
  assert.deepEqual(await attributes(numbered(21, (n) => `key ${n}`)), [
    'metadata.attributes: must not have more than 20 entries',
  ]);
  assert.deepEqual(await attributes({ count: 1 }), ['metadata.attributes.count: must be a string']);
  for (const none of [{}, []]) assert.equal(await attributes(none), 'OK');
});

test('attributes are returned with the message exactly as sent, whatever their names', async () => {
  const given = { order: 'A-1', 'größe =': ' {{Order Number}}\r\n', constructor: '', '1': '2' };
  const [client] = clients;
  const body = bodyWith({ metadata: { attributes: given } }) as object;
  const text = JSON.stringify(body).replace('"order":', '"__proto__":"p","order":');
  const sent = await client.send({ body: text });
  assert.equal(sent.status, 200, sent.text);
  const status = await client.status(sent.body.messageId);
  requireConformity('GET', `${service.url}/ete/v1/message/46100/${sent.body.messageId}`, status);
  const returned = Object.entries(status.body.attributes as object);
  assert.deepEqual(new Map(returned), new Map([...Object.entries(given), ['__proto__', 'p']]));
});

test('a message can have 20 headers and not one more', async () => {
  assert.equal(await headers(numbered(20, (n) => `X-Number-${n}`)), 'OK');
  assert.deepEqual(await headers(numbered(21, (n) => `X-Number-${n}`)), [
    'content.headers: must not have more than 20 entries',
  ]);
  for (const none of [{}, []]) assert.equal(await headers(none), 'OK');
});

test('RFC 5322 2.1.1: a header can have 998 octets together with its name and not one more', async () => {
  for (const [name, text] of [
    ['X-Text', 'x'.repeat(990)],
    ['X-Text', 'é'.repeat(495)],
    ['Feedback-ID', 'x'.repeat(985)],
  ] as const) {
    assert.equal(await headers({ [name]: text }), 'OK', name);
    assert.deepEqual(await headers({ [name]: `${text}x` }), [
      `content.headers.${name}: must not be longer than 998 octets together with its name`,
    ]);
  }
  assert.deepEqual(await headers({ 'X-Text': 'x'.repeat(999) }), [
    'content.headers.X-Text: must not be longer than 998 characters',
  ]);
});

test('a header’s name can have 76 characters and not one more', async () => {
  const longest = `X-${'n'.repeat(74)}`;
  assert.equal(await headers({ [longest]: 'é'.repeat(400) }), 'OK');
  assert.deepEqual(await headers({ [`${longest}n`]: 'x' }), [
    'content.headers: has a name longer than 76 characters',
  ]);
});

test('the listed headers are accepted in any case', async () => {
  const given = {
    'X-Order': 'A-1',
    'list-id': 'Orders <orders.shop.test>',
    'List-Help': '<https://shop.test/help>',
    REFERENCES: '<a@shop.test>  <b@shop.test>',
    'in-reply-to': '<b@shop.test>',
    Importance: 'high',
    'feedback-id': 'a:b:c:shop',
  };
  assert.equal(await headers(given), 'OK');
});

test('every other header is refused by name', async () => {
  const other = 'can’t be set; use X-…, List-…, References, In-Reply-To, Importance or Feedback-ID';
  for (const name of [
    'Bcc',
    'Subject',
    'DKIM-Signature',
    'X-',
    'X',
    'List-',
    'References2',
    'X-A:',
    'X-A B',
    'X-A\r\nBcc',
    'X-Größe',
    ' X-A',
    '__proto__',
    'constructor',
  ]) {
    const text = JSON.stringify(bodyWith({ content: { headers: { placeholder: 'x' } } }));
    const body = text.replace('"placeholder"', JSON.stringify(name));
    const { body: response } = await clients[0].send({ body });
    assert.deepEqual(response.details, [{ field: `content.headers.${name}`, reason: other }]);
  }
});

test('headers of the service and of other services are reserved, and so are those of the operator', async () => {
  for (const name of [
    'X-Signalpost-Original-To',
    'x-smtpapi',
    'X-SES-Configuration-Set',
    'X-PM-Tag',
    'X-Mailgun-Variables',
    'X-MC-Tags',
    'X-MSYS-API',
    'x-priority',
    'X-Internal-Id',
  ])
    assert.deepEqual(await headers({ [name]: 'x' }), [
      `content.headers.${name}: is reserved; use another name`,
    ]);
  for (const name of ['List-Unsubscribe', 'LIST-UNSUBSCRIBE-POST'])
    assert.deepEqual(await headers({ [name]: '<https://shop.test/u>' }), [
      `content.headers.${name}: is set by the service; remove it`,
    ]);
  const allowed = { 'X-Priority-Level': 'x', 'X-Internal': 'x', 'X-SMTPAPI-2': 'x', 'X-PM': 'x' };
  assert.equal(await headers(allowed), 'OK');
});

test('a header that is given twice is refused, whatever its case', async () => {
  assert.deepEqual(await headers({ 'X-Order': '1', 'x-order': '2' }), [
    'content.headers.x-order: is given twice; upper and lower case are the same',
  ]);
});

test('a header’s value is not empty, has no control characters and suits the header', async () => {
  const control = 'must not contain control characters or line breaks';
  const ids = 'must be message IDs separated by spaces, such as <a@example.com> <b@example.com>';
  for (const [name, value, reason] of [
    ['X-A', '', 'must not be empty'],
    ['X-A', '  ', 'must not be empty'],
    ['X-A', 'a\r\nBcc: thief@example.test', control],
    ['X-A', 'a\r\n', control],
    ['X-A', 'a\tb', control],
    ['X-A', '\u2029', control],
    ['List-ID', 'Größe <a.shop.test>', 'must be printable ASCII'],
    ['Importance', 'höch', 'must be printable ASCII'],
    ['In-Reply-To', 'A-1001', ids],
    ['References', '<a@shop.test>,<b@shop.test>', ids],
    ['References', '<a@shop.test', ids],
  ] as const)
    assert.deepEqual(await headers({ [name]: value }), [`content.headers.${name}: ${reason}`]);
  assert.deepEqual(await headers({ 'X-A': 1 }), ['content.headers.X-A: must be a string']);
});

test('problems of names and headers are listed together with all others', async () => {
  const problems = await problemsOf({
    envelope: { toDisplayName: 'a\nb', toAddress: 'none' },
    content: { headers: { Bcc: 'x', 'X-A': 'a\nb', 'X-B': 1 }, subject: 'x' },
    metadata: { attributes: { a: true } },
  });
  assert.deepEqual([...problems].sort(), [
    'content.headers.Bcc: can’t be set; use X-…, List-…, References, In-Reply-To, Importance or Feedback-ID',
    'content.headers.X-A: must not contain control characters or line breaks',
    'content.headers.X-B: must be a string',
    'content.subject: is not a field of this request',
    'envelope.toAddress: is not an email address: it has no @',
    'envelope.toDisplayName: must not contain control characters or line breaks',
    'metadata.attributes.a: must be a string',
  ]);
});

test('text in place of headers or attributes is refused', async () => {
  for (const wrong of ['X-A: b', ['X-A'], null, 1]) {
    assert.deepEqual(await headers(wrong), ['content.headers: must be an object']);
    assert.deepEqual(await attributes(wrong), ['metadata.attributes: must be an object']);
  }
});

test('a repeated request with other attributes is a mismatch of its idempotency key', async () => {
  const key = { 'idempotency-key': 'extras-1' };
  const send = (store: string) =>
    clients[0].send({ headers: key, body: bodyWith({ metadata: { attributes: { store } } }) });
  assert.equal((await send('Vienna')).status, 200);
  assert.equal((await send('Vienna')).headers.get('idempotency-replayed'), 'true');
  assert.equal((await send('Graz')).status, 422);
});
