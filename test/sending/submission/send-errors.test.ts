import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { bodyWith, goodBody, SendClient } from '../../support/send-client.ts';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import { addSender, getToken, openShop, publishShopTemplate } from '../../support/shop.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';

const { database, service, shop, token, client } = await openSharedShop({ worker: false });
await publishShopTemplate(database, shop, { id: 't-creator' });
await publishShopTemplate(database, shop, { id: 't-unverified', sender: 'new@shop.test' });
const suspended = await openShop(database, { id: newAccountId(), suspended: true });
const plain = await openShop(database, { id: newAccountId(), addOns: [] });
const suspendedClient = new SendClient(service, await getToken(service, suspended));
const plainClient = new SendClient(service, await getToken(service, plain));

/** Checks status, name and exact message of section 7; returns the details as `field: reason`. */
function assertRefused(
  response: TextResponse,
  status: number,
  name: string,
  message: string,
): string[] {
  const { success, errorName, details, requestId, ...rest } = response.body;
  assert.deepEqual(
    { status: response.status, success, errorName, said: rest.message, repeated: rest.status },
    { status, success: false, errorName: name, said: message, repeated: status },
  );
  assert.equal(requestId, response.headers.get('x-request-id'));
  return (details as { field: string; reason: string }[]).map(
    ({ field, reason }) => `${field}: ${reason}`,
  );
}

const invalid = (response: TextResponse): string[] =>
  assertRefused(response, 400, 'VALIDATION_FAILED', 'Validation Failed for emailDetails object');
const unknownId = (response: TextResponse): string[] =>
  assertRefused(
    response,
    400,
    'INVALID_ID',
    'Invalid ID in request. accountId or templateId is invalid',
  );
const notAllowed = (response: TextResponse): string[] =>
  assertRefused(response, 400, 'SENDER_NOT_ALLOWED', 'Sender Not Allowed');
const missing = (response: TextResponse): string[] =>
  assertRefused(
    response,
    400,
    'PERSONALIZATION_FAILURE',
    'Personalization Failure Exception. personalization fields were missed',
  );

test('7: a request that passes every check gets 200 Successfully Accepted', async () => {
  const response = await client.send();
  assert.equal(response.status, 200);
  const { messageId, ...rest } = response.body;
  assert.deepEqual(rest, {
    success: true,
    message: 'Successfully Accepted',
    suppressedRecipients: [],
  });
  assert.match(String(messageId), /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

test('7: a missing, malformed, unknown or forged token gets 401 Unauthorized Request', async () => {
  for (const token of [undefined, '', 'x', `spa_${'a'.repeat(59)}`, 'two words']) {
    const response = await client.send({ token });
    assertRefused(response, 401, 'UNAUTHORIZED', 'Unauthorized Request');
    assert.match(String(response.headers.get('www-authenticate')), /^Bearer/);
  }
  const basic = await client.send({ token: undefined, headers: { authorization: 'Basic eDp5' } });
  assertRefused(basic, 401, 'UNAUTHORIZED', 'Unauthorized Request');
});

test('7: a request for a suspended account gets 401 Account Temporarily Suspended', async () => {
  const response = await suspendedClient.send({ account: suspended.id });
  assertRefused(response, 401, 'ACCOUNT_SUSPENDED', 'Account Temporarily Suspended');
});

test('7: an unknown or foreign account or an unusable account id gets 400 Invalid ID', async () => {
  const accounts = [plain.id, '99999', '%zz', '%ff', 'a%2Fb', 'a%00b', 'a'.repeat(65), '', '%20'];
  for (const account of [...accounts, 'a'.repeat(4000), '%0a', 'a/b']) {
    assert.deepEqual(
      unknownId(await client.send({ account })),
      ['accountId: is not an account of this token'],
      account,
    );
  }
});

test('7: an unknown or foreign template or an unusable template id gets 400 Invalid ID', async () => {
  for (const template of ['t-9999', '%zz', '%ff', 'a%2Fb', 'a%00b', 'a'.repeat(65), '%0d%0a']) {
    assert.deepEqual(
      unknownId(await client.send({ template })),
      ['templateId: is not a published template of this account'],
      template,
    );
  }
  for (const template of ['', 'a/b']) unknownId(await client.send({ template }));
});

test('4.3 rule 2: a body that is not a JSON object of 2.2 gets 400 Validation Failed', async () => {
  const bodies: [unknown, string][] = [
    ['', ': the body is empty'],
    ['{"envelope":', ': the body is not valid JSON'],
    [Buffer.from([0x7b, 0xff, 0x7d]), ': the body is not valid UTF-8'],
    ['[]', ': must be an object'],
    ['null', ': must be an object'],
    ['"text"', ': must be an object'],
  ];
  for (const [body, detail] of bodies)
    assert.deepEqual(invalid(await client.send({ body })), [detail]);
  assert.deepEqual(invalid(await client.send({ body: {} })), [
    'envelope: is required',
    'actions: is required',
  ]);
});

test('4.3 rule 2: deeply nested JSON is rejected like any other invalid body', async () => {
  const deep = `{"content":${'['.repeat(120_000)}${']'.repeat(120_000)}}`;
  assert.ok(invalid(await client.send({ body: deep })).includes('content: must be an object'));
  const escaped = `{"content":${'['.repeat(120_000)}"\\u0000"${']'.repeat(120_000)}}`;
  invalid(await client.send({ body: escaped }));
});

test('4.3 rule 2: a content type other than application/json gets 400 Validation Failed', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'garbage',
    'application/jsonx',
  ]) {
    assert.deepEqual(invalid(await client.send({ headers: { 'content-type': type } })), [
      ': the Content-Type must be application/json',
    ]);
  }
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;x=y',
  ]) {
    assert.equal((await client.send({ headers: { 'content-type': type } })).status, 200, type);
  }
});

test('4.3 rule 2: a body of 256 KiB is read; one byte more gets 400 Validation Failed', async () => {
  const text = JSON.stringify(bodyWith({}));
  const filled = text + ' '.repeat(256 * 1024 - text.length);
  assert.equal((await client.send({ body: filled })).status, 200);
  assert.deepEqual(invalid(await client.send({ body: `${filled} ` })), [
    ': the body is larger than 256 KiB',
  ]);
});

test('4.3 rule 2: every problem of a body is reported, not only the first', async () => {
  const body = {
    envelope: {
      toAddress: 'nobody',
      ccAddressList: ['ok@example.test', 'bad@', 7],
      fromAddress: 5,
      replyToAdress: 'x@example.test',
    },
    content: {
      subjectLine: 'x'.repeat(91),
      previewText: '{{#open}}',
      personalizationDataMap: { a: 1, b: null, 'c/d~e\n': true },
    },
    metadata: { transactional: 'true', externalId: null, tagList: ['a', 'b'] },
    actions: { trackOpens: 'true', deliveryWhenDelayed: 'MAYBE' },
    extra: 1,
  };
  assert.deepEqual(invalid(await client.send({ body })).sort(), [
    'actions.deliveryWhenDelayed: must be TRUE or FALSE',
    'actions.trackClicks: is required',
    'actions.trackOpens: must be true or false',
    'content.personalizationDataMap.a: must be a string',
    'content.personalizationDataMap.b: must be a string',
    'content.personalizationDataMap.c/d~e\n: must be a string',
    'content.previewText: has malformed personalization: the section {{#open}} is not closed by the end',
    'content.subjectLine: must not be longer than 90 characters',
    'envelope.ccAddressList[1]: is not an email address: it has nothing after the @',
    'envelope.ccAddressList[2]: must be a string',
    'envelope.fromAddress: must be a string',
    'envelope.replyToAdress: is not a field of this request',
    'envelope.toAddress: is not an email address: it has no @',
    'extra: is not a field of this request',
    'metadata.externalId: must be a string',
    'metadata.tagList: must not have more than 1 entry',
    'metadata.transactional: must be true or false',
  ]);
});

test('4.3 rule 2: of very many problems, the first hundred are reported', async () => {
  const values = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1]));
  const body = bodyWith({ content: { personalizationDataMap: values } });
  const details = invalid(await client.send({ body }));
  assert.equal(details.length, 101);
  assert.equal(details.at(-1), ': and 4900 more problems');
});

test('4.3 rule 2: NUL characters and unpaired surrogates are rejected anywhere; pairs are not', async () => {
  const withEscape = (sequence: string, place: string): string =>
    JSON.stringify(
      bodyWith({
        content: {
          personalizationDataMap: {
            'Order Number': 'A',
            [place === 'key' ? '@@' : 'k']: place === 'key' ? 'v' : '@@',
          },
        },
      }),
    ).replace('@@', sequence);
  for (const sequence of ['\\u0000', '\\ud800', '\\udc00', '\\ud800\\ud800', 'a\\udfffb']) {
    const [value] = invalid(await client.send({ body: withEscape(sequence, 'value') }));
    assert.match(
      String(value),
      /^content\.personalizationDataMap\.k: contains (a NUL|an unpaired)/,
    );
    const [name] = invalid(await client.send({ body: withEscape(sequence, 'key') }));
    assert.match(
      String(name),
      /^content\.personalizationDataMap\..*: its name contains (a NUL|an unpaired)/,
    );
  }
  for (const sequence of ['\\ud83d\\ude00', '\\u00e4', '\\\\u0000'])
    assert.equal((await client.send({ body: withEscape(sequence, 'value') })).status, 200);
});

test('4.3 rule 1: transactional without the add-on gets 400 Validation Failed with the reason', async () => {
  const body = bodyWith({ metadata: { transactional: true } });
  assert.equal((await client.send({ body })).status, 200);
  const response = await plainClient.send({ account: plain.id, body });
  assert.deepEqual(invalid(response), [
    'metadata.transactional: the account does not have the transactional email add-on',
  ]);
  const without = bodyWith({ metadata: { transactional: false } });
  assert.equal((await plainClient.send({ account: plain.id, body: without })).status, 200);
});

test('4.3 rule 4: From must be a verified sender, whether from the request or the template', async () => {
  const unverified = 'is not a verified sender of this account';
  for (const fromAddress of ['new@shop.test', 'stranger@shop.test']) {
    const body = bodyWith({ envelope: { fromAddress } });
    assert.deepEqual(notAllowed(await client.send({ body })), [
      `envelope.fromAddress: ${unverified}`,
    ]);
  }
  assert.deepEqual(notAllowed(await client.send({ template: 't-unverified' })), [
    `envelope.fromAddress: was not given, and the template’s own sender, new@shop.test, ${unverified}`,
  ]);
  assert.deepEqual(notAllowed(await client.send({ template: 't-creator' })), [
    `envelope.fromAddress: was not given, and the template’s own sender, ${shop.owner.email}, ${unverified}`,
  ]);
  const body = bodyWith({ envelope: { fromAddress: 'Orders@SHOP.test' } });
  assert.equal((await client.send({ body })).status, 200);
});

test('4.3 rule 4: the display name must be registered for the sender, unless any name is allowed', async () => {
  const named = (fromAddress: string, fromDisplayName: string) =>
    client.send({ body: bodyWith({ envelope: { fromAddress, fromDisplayName } }) });
  assert.equal((await named('orders@shop.test', 'Orders')).status, 200);
  assert.deepEqual(notAllowed(await named('orders@shop.test', 'orders')), [
    'envelope.fromDisplayName: is not a name registered for this sender',
  ]);
  await addSender(database, shop.id, 'any@shop.test', { displayNames: ['*'] });
  assert.equal((await named('any@shop.test', 'Whoever')).status, 200);
});

test('4.3 rule 4: Reply-To must be a verified sender; every reason is reported', async () => {
  const body = bodyWith({
    envelope: { fromDisplayName: 'Nobody', replyToAddress: 'new@shop.test' },
  });
  assert.deepEqual(notAllowed(await client.send({ body })), [
    'envelope.fromDisplayName: is not a name registered for this sender',
    'envelope.replyToAddress: is not a verified sender of this account',
  ]);
});

test('4.3 rule 3: a field without value and default gets 400 Personalization Failure', async () => {
  const none = bodyWith({ content: { personalizationDataMap: {} } });
  const detail =
    'content.personalizationDataMap.Order Number: has no value, and the template gives no default';
  assert.deepEqual(missing(await client.send({ body: none })), [detail]);
  const inherited = '{"__proto__":{"Order Number":"A"},"other":"x"}';
  const body = JSON.stringify(none).replace(
    '"personalizationDataMap":{}',
    `"personalizationDataMap":${inherited}`,
  );
  assert.deepEqual(invalid(await client.send({ body })), [
    'content.personalizationDataMap.__proto__: must be a string',
  ]);
  const empty = bodyWith({ content: { personalizationDataMap: { 'Order Number': '' } } });
  assert.equal((await client.send({ body: empty })).status, 200, 'an empty string is a value');
});

test('4.3 rule 3: fields of an overridden subject count, those of the template’s subject do not', async () => {
  await publishShopTemplate(database, shop, {
    id: 't-subject',
    sender: 'orders@shop.test',
    source: { html: '<p>Hello</p>', previewText: '' },
  });
  const send = (content: Record<string, unknown>) =>
    client.send({ template: 't-subject', body: bodyWith({ content }) });
  const personalizationDataMap = {};
  assert.equal((await send({ personalizationDataMap })).status, 400);
  assert.equal((await send({ personalizationDataMap, subjectLine: 'Hi' })).status, 200);
  const subjectLine = 'Hi {{constructor}}';
  assert.deepEqual(missing(await send({ personalizationDataMap, subjectLine })), [
    'content.personalizationDataMap.constructor: has no value, and the template gives no default',
  ]);
});

test('7: an internal error gets 500 Internal Server Error, and the next request is served', async () => {
  await publishShopTemplate(database, shop, { id: 't-broken', sender: 'orders@shop.test' });
  await database.pool.query(
    `update template_version set compiled = '{}' where account_id = $1 and template_id = 't-broken'`,
    [shop.id],
  );
  const response = await client.send({ template: 't-broken' });
  assert.deepEqual(
    assertRefused(response, 500, 'INTERNAL_ERROR', 'Internal Server Error'),
    [],
    'nothing of the fault is told to the caller',
  );
  assert.equal((await client.send()).status, 200);
});

test('a trailing slash, a query and an encoded letter in an id make no difference', async () => {
  for (const path of [
    { template: 't-0001/' },
    { template: 't-0001?x=1/2' },
    { template: 't-0001/?x=1/2' },
    { template: '%74-0001' },
    { account: `%35${shop.id.slice(1)}` },
  ])
    assert.equal((await client.send(path)).status, 200, JSON.stringify(path));
});

test('a target in absolute form or with encoded letters is the same resource (RFC 9112 3.2.2, RFC 3986 6.2.2.2)', async () => {
  const send = (path: string) => postRaw(path, []);
  assert.match(await send(`${service.url}/ete/v1/email/${shop.id}/t-0001?x=1`), /^HTTP\/1\.1 200/);
  assert.match(await send(`/ete/v1/em%61il/${shop.id}/t-0001/`), /^HTTP\/1\.1 200/);
  assert.match(await send(`${service.url}/ete/v1/email/${shop.id}/t-9999`), /INVALID_ID/);
});

test('an idempotency key in two header fields gets 400 Validation Failed; a key with commas is valid', async () => {
  const send = (...keys: string[]) =>
    postRaw(
      `/ete/v1/email/${shop.id}/t-0001`,
      keys.map((key) => `Idempotency-Key: ${key}`),
    );
  assert.match(await send('a', 'b'), /VALIDATION_FAILED.*must be one value/s);
  assert.match(await send('a, b'), /^HTTP\/1\.1 200/);
});

test('a body with a Content-Encoding gets 400 Validation Failed, naming the header', async () => {
  assert.match(
    await postRaw(`/ete/v1/email/${shop.id}/t-0001`, ['Content-Encoding: gzip']),
    /VALIDATION_FAILED.*Content-Encoding/s,
  );
  assert.match(
    await postRaw(`/ete/v1/email/${shop.id}/t-0001`, ['Content-Encoding: identity']),
    /^HTTP\/1\.1 200/,
  );
});

/** Posts a valid body with exactly this target and these fields. */
async function postRaw(target: string, fields: readonly string[]): Promise<string> {
  const { port, hostname } = new URL(service.url);
  const body = JSON.stringify(goodBody());
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [
    `POST ${target} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...fields,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('4.3: a path with empty, too many or undecodable ids gets 400 Invalid ID, or 401 for a stranger', async () => {
  for (const path of [
    { account: '', template: 't-0001' },
    { template: '' },
    { template: 't-0001//' },
    { template: 't-0001/x' },
    { template: '/t-0001' },
    { template: '%zz' },
    { template: 't-0001%2F' },
    { account: `${shop.id}%` },
  ]) {
    const response = await client.send(path);
    assert.equal(response.body.errorName, 'INVALID_ID', JSON.stringify(path));
    assert.equal((await client.send({ ...path, token: 'forged' })).status, 401);
  }
});

test('4.3 rule 2: a request without a body or content type gets 400 Validation Failed', async () => {
  const authorization = { authorization: `Bearer ${await getToken(service, shop)}` };
  const send = (init: RequestInit) =>
    sendRequest(`${service.url}/ete/v1/email/${shop.id}/t-0001`, {
      method: 'POST',
      ...init,
      headers: { ...authorization, ...(init.headers as Record<string, string>) },
    });
  assert.deepEqual(invalid(await send({})), [': the Content-Type must be application/json']);
  assert.deepEqual(invalid(await send({ headers: { 'content-type': 'application/json' } })), [
    ': the body is empty',
  ]);
});
