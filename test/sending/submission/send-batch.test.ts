import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../support/api-key.ts';
import { bodyWith, goodBody, type SendOptions } from '../../support/send-client.ts';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import { getToken, openShop, publishShopTemplate, saveShop } from '../../support/shop.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const {
  database,
  clock,
  shop,
  service,
  token,
  client: single,
} = await openTestShop({ worker: false, movesClock: true });
const other = await openShop(database, { id: '46200' });
const key = await addKey(database, shop.id, { scopes: ['messages:send'] });

type Result = Record<string, unknown> & {
  readonly details: readonly { readonly field: string; readonly reason: string }[];
};

/** Sends a batch. */
function post(body: unknown, options: SendOptions = {}): Promise<TextResponse> {
  const { account = shop.id, template = 't-0001' } = options;
  const bearer = 'token' in options ? options.token : token;
  return sendRequest(`${service.url}/ete/v1/email/${account}/${template}/batch`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...options.headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
}

/** The results of a batch that is accepted as such. */
async function send(messages: readonly unknown[], options?: SendOptions): Promise<Result[]> {
  const response = await post({ messages }, options);
  assert.equal(response.status, 200, response.text);
  return response.body.results as Result[];
}

/** The error of a batch that is refused as a whole. */
async function refuse(body: unknown, options?: SendOptions): Promise<Result> {
  const response = await post(body, options);
  assert.equal(response.body.success, false, response.text);
  assert.equal(response.body.status, response.status);
  assert.equal(response.headers.get('x-request-id'), response.body.requestId);
  return response.body as Result;
}

async function countMessages(accountId: string = shop.id): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>(
    'select count(*)::int as n from message where account_id = $1',
    [accountId],
  );
  return rows[0]?.n ?? 0;
}

/** A good message to somebody. */
function messageTo(toAddress: string, more: Readonly<Record<string, unknown>> = {}) {
  return { ...bodyWith({ envelope: { toAddress } }), ...more };
}

const statusesOf = (results: readonly Result[]): unknown[] => results.map(({ status }) => status);

test('each message is accepted and stored, and results are in the order of the messages', async () => {
  const addresses = Array.from({ length: 250 }, (_, n) => `order${n}@example.test`);
  const results = await send(addresses.map((address) => messageTo(address)));
  assert.equal(new Set(results.map(({ messageId }) => messageId)).size, addresses.length);
  const { rows } = await database.pool.query<{ id: string; to: string; queued: boolean }>(
    `select m.id::text, m.content->>'to' as to, q.message_id is not null as queued
     from message m left join queued_delivery q on q.account_id = m.account_id and q.message_id = m.id
     where m.account_id = $1`,
    [shop.id],
  );
  const stored = new Map(rows.map((row) => [row.id, row]));
  results.forEach((result, index) => {
    const { messageId, ...rest } = result;
    assert.deepEqual(rest, {
      success: true,
      status: 200,
      message: 'Successfully Accepted',
      suppressedRecipients: [],
    });
    assert.deepEqual(stored.get(String(messageId)), {
      id: messageId,
      to: addresses[index],
      queued: true,
    });
  });
});

test('a message gets the result that it gets as a single request, and none affects the others', async () => {
  const bodies: unknown[] = [
    goodBody(),
    bodyWith({ envelope: { toAddress: 'nobody' } }),
    bodyWith({ envelope: { fromAddress: 'new@shop.test' } }),
    bodyWith({ content: { personalizationDataMap: {} } }),
    bodyWith({ envelope: { toAddress: 'suppressed@simulator.test' } }),
    bodyWith({ envelope: { ccAddressList: ['suppressed@simulator.test', 'cc@example.test'] } }),
    { ...goodBody(), extra: 1 },
    bodyWith({ content: { subjectLine: 's'.repeat(91) } }),
    bodyWith({ content: { subjectLine: '{{#Open}}' } }),
    bodyWith({ content: { personalizationDataMap: { 'Order Number': 'a\0b' } } }),
    {},
    null,
    7,
    'text',
    [goodBody()],
    goodBody(),
  ];
  const results = await send(bodies);
  assert.equal(results.length, bodies.length);
  for (const [index, body] of bodies.entries()) {
    const alone = await single.send({ body: JSON.stringify(body) });
    const expected: Record<string, unknown> = { status: 200, ...alone.body };
    const { messageId, requestId, ...actual } = results[index] as Result;
    delete expected[messageId === undefined ? 'requestId' : 'messageId'];
    assert.deepEqual(actual, expected, JSON.stringify(body));
    assert.equal(actual.status, alone.status);
    assert.equal(requestId === undefined, alone.status === 200);
  }
  assert.equal(results.filter(({ status }) => status === 200).length, 3);
});

test('errors carry the request id of the batch', async () => {
  const response = await post({ messages: [{}, goodBody()] });
  const [failed] = response.body.results as Result[];
  assert.equal(failed?.requestId, response.headers.get('x-request-id'));
});

test('the transactional add-on is checked for each message', async () => {
  const plain = await openShop(database, { id: '46300', addOns: [] });
  const message = { ...goodBody(), metadata: { transactional: true } };
  const [refused, accepted] = await send([message, goodBody()], {
    account: plain.id,
    token: await getToken(service, plain),
  });
  assert.equal(refused?.details[0]?.field, 'metadata.transactional');
  assert.equal(accepted?.status, 200);
});

test('an empty batch has no results', async () => {
  assert.deepEqual(await send([]), []);
});

for (const [name, bearer] of [
  ['an access token', token],
  ['an API key', key],
] as const)
  test(`a batch can have 1,000 messages and not one more, with ${name}`, async () => {
    const before = await countMessages();
    const messages = Array.from({ length: 1_000 }, (_, n) => messageTo(`limit${n}@example.test`));
    const results = await send(messages, { token: bearer });
    assert.deepEqual(new Set(statusesOf(results)), new Set([200]));
    assert.equal(await countMessages(), before + 1_000);
    const error = await refuse({ messages: [...messages, goodBody()] }, { token: bearer });
    assert.equal(error.errorName, 'VALIDATION_FAILED');
    assert.deepEqual(error.details, [
      {
        field: 'messages',
        reason: 'must not have more than 1000 entries; send the rest in another batch',
      },
    ]);
    assert.equal(await countMessages(), before + 1_000);
  });

for (const [name, bearer] of [
  ['an access token', token],
  ['an API key', key],
] as const)
  test(`a batch can have 10 MiB and not one byte more, with ${name}`, async () => {
    const limit = 10 * 1024 * 1024;
    const text = JSON.stringify({ messages: [goodBody(), goodBody()] });
    const results = await post(text + ' '.repeat(limit - text.length), { token: bearer });
    assert.equal(results.status, 200, results.text);
    const error = await refuse(text + ' '.repeat(limit - text.length + 1), { token: bearer });
    assert.deepEqual(error.details, [{ field: '', reason: 'the body is larger than 10 MiB' }]);
  });

for (const [name, bearer] of [
  ['an access token', token],
  ['an API key', key],
] as const)
  test(`a message of a batch can have 256 KiB and not one byte more, with ${name}`, async () => {
    const limit = 256 * 1024;
    const text = JSON.stringify(goodBody());
    const filled = (length: number): string =>
      `{${' '.repeat(length - text.length)}${text.slice(1)}`;
    const body = `{"messages":[${filled(limit)},${filled(limit + 1)},${text}]}`;
    const response = await post(body, { token: bearer });
    const results = response.body.results as Result[];
    assert.deepEqual(statusesOf(results), [200, 400, 200]);
    assert.deepEqual(results[1]?.details, [
      { field: '', reason: 'the body is larger than 256 KiB' },
    ]);
  });

test('attachments are refused by name, without affecting other messages', async () => {
  const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content: 'YQ==' }];
  const [refused, accepted] = await send([bodyWith({ content: { attachments } }), goodBody()]);
  assert.deepEqual(refused?.details, [
    {
      field: 'content.attachments',
      reason: 'isn’t allowed in a batch; send this message in a separate request',
    },
  ]);
  assert.equal(accepted?.status, 200);
});

test('a body that is no batch fails validation and names the field', async () => {
  const message = JSON.stringify(goodBody());
  const tooLong = 'n'.repeat(400);
  for (const [body, field, reason] of [
    ['', '', 'the body is empty'],
    [' \n', '', 'the body is empty'],
    [`{"messages":[${message}]`, '', 'the body is not valid JSON'],
    [`{"messages":[${message},]}`, '', 'the body is not valid JSON'],
    [`{"messages":[${message},{"a":01}]}`, '', 'the body is not valid JSON'],
    [`{"messages":[${message}]} x`, '', 'the body is not valid JSON'],
    [Buffer.from(`{"messages":["\xff"]}`, 'latin1'), '', 'the body is not valid UTF-8'],
    [`[${message}]`, '', 'must be an object'],
    ['"messages"', '', 'must be an object'],
    ['7', '', 'must be an object'],
    ['{}', 'messages', 'is required'],
    [`{"messages":${message}}`, 'messages', 'must be an array'],
    ['{"messages":null}', 'messages', 'must be an array'],
    [`{"messages":[${message}],"messages":[]}`, 'messages', 'must not be repeated'],
    [`{"messages":[${message}],"mode":1}`, 'mode', 'is not a field of a batch'],
    [`{"messages":[${message}],"\\ud800":1}`, '\u{fffd}', 'is not a field of a batch'],
    [
      `{"messages":[${message}],"${tooLong}":1}`,
      `${tooLong.slice(0, 299)}…`,
      'is not a field of a batch',
    ],
  ] as const) {
    const before = await countMessages();
    const error = await refuse(body);
    assert.equal(error.errorName, 'VALIDATION_FAILED');
    assert.equal(error.status, 400);
    assert.deepEqual(error.details, [{ field, reason }], String(body).slice(0, 200));
    assert.equal(await countMessages(), before, String(body).slice(0, 200));
  }
});

test('a body of another type or encoding fails validation', async () => {
  const text = await refuse({ messages: [] }, { headers: { 'content-type': 'text/plain' } });
  assert.equal(text.details[0]?.reason, 'the Content-Type must be application/json');
  const packed = await refuse({ messages: [] }, { headers: { 'content-encoding': 'gzip' } });
  assert.match(packed.details[0]?.reason ?? '', /^Content-Encoding is not supported/);
});

test('4.3: an error that concerns all messages gets the response of a single one, in the same order', async () => {
  const suspended = await openShop(database, { id: '46400', suspended: true });
  await publishShopTemplate(database, other, { id: 't-other' });
  const cases: SendOptions[] = [
    { token: undefined },
    { token: 'wrong' },
    { token: 'wrong', account: 'none', template: 'none' },
    { account: 'none' },
    { account: other.id },
    { account: '%00', template: 'none' },
    { account: 'x'.repeat(100) },
    { account: suspended.id, token: await getToken(service, suspended), template: 'none' },
    { template: 'none' },
    { template: 't-other' },
    { template: 'a%2Fb' },
    { token: await addKey(database, shop.id, { scopes: ['messages:status'] }) },
    {
      token: await addKey(database, shop.id, {
        scopes: ['messages:send'],
        templates: ['t-0009'],
      }),
    },
  ];
  for (const options of cases) {
    const alone = await single.send({ body: 'no JSON', ...options });
    const batch = await post('no JSON', options);
    assert.equal(batch.status, alone.status, JSON.stringify(options));
    assert.equal(batch.headers.get('www-authenticate'), alone.headers.get('www-authenticate'));
    assert.deepEqual({ ...batch.body, requestId: '' }, { ...alone.body, requestId: '' });
  }
});

test('the Idempotency-Key header is refused before the template is looked up', async () => {
  for (const value of ['batch-key', '']) {
    const headers = { 'idempotency-key': value };
    const error = await refuse({ messages: [goodBody()] }, { headers, template: 'none' });
    assert.equal(error.errorName, 'VALIDATION_FAILED');
    assert.deepEqual(error.details, [
      {
        field: 'Idempotency-Key',
        reason: 'must not be sent with a batch; give each message an idempotencyKey',
      },
    ]);
  }
});

test('a key can have 255 characters and not one more, with the field in the error', async () => {
  const valid = ['k'.repeat(255), ' ', '~'];
  const invalid = ['k'.repeat(256), '', 'ü', 'a\nb', 7, null, ['a'], {}, true];
  const results = await send(
    [...valid, ...invalid].map((idempotencyKey) =>
      messageTo('key@example.test', { idempotencyKey }),
    ),
  );
  assert.deepEqual(statusesOf(results), [...valid.map(() => 200), ...invalid.map(() => 400)]);
  for (const { details } of results.slice(valid.length))
    assert.deepEqual(details, [
      {
        field: 'idempotencyKey',
        reason: 'must be one value of 1 to 255 printable ASCII characters',
      },
    ]);
});

test('an idempotencyKey is no field of a single request', async () => {
  const { body } = await single.send({ body: { ...goodBody(), idempotencyKey: 'x' } });
  assert.deepEqual(body.details, [
    { field: 'idempotencyKey', reason: 'is not a field of this request' },
  ]);
});

test('a repeated batch gets the first response, and nothing is sent again', async () => {
  const messages = ['r1', 'r2', undefined].map((idempotencyKey) =>
    messageTo('again@example.test', { idempotencyKey }),
  );
  const first = await send(messages);
  const before = await countMessages();
  const second = await send(messages);
  assert.deepEqual(second.slice(0, 2), first.slice(0, 2));
  assert.notEqual(second[2]?.messageId, first[2]?.messageId);
  assert.equal(await countMessages(), before + 1);
});

test('the same bytes are the same message, wherever they are in a batch', async () => {
  const text = JSON.stringify(messageTo('bytes@example.test', { idempotencyKey: 'bytes' }));
  const results = async (body: string): Promise<Result[]> =>
    (await post(body)).body.results as Result[];
  const [first] = await results(`{"messages":[${text}]}`);
  const [, second] = await results(`{ "messages" : [ 7,\n\t ${text} \r\n ] }`);
  assert.deepEqual(second, first);
  const [spaced] = await results(`{"messages":[${text.replace('{', '{ ')}]}`);
  assert.equal(spaced?.errorName, 'IDEMPOTENCY_MISMATCH');
  const elsewhere = await publishShopTemplate(database, shop, {
    id: 't-0002',
    sender: 'orders@shop.test',
  });
  assert.equal(elsewhere, 1);
  const response = await post(`{"messages":[${text}]}`, { template: 't-0002' });
  assert.equal((response.body.results as Result[])[0]?.errorName, 'IDEMPOTENCY_MISMATCH');
});

test('keys share the space of the account with single requests', async () => {
  const headers = { 'idempotency-key': 'shared' };
  assert.equal((await single.send({ headers })).status, 200);
  const [result] = await send([{ ...goodBody(), idempotencyKey: 'shared' }]);
  assert.equal(result?.status, 422);
  assert.equal(result?.errorName, 'IDEMPOTENCY_MISMATCH');
  await send([{ ...goodBody(), idempotencyKey: 'shared-2' }]);
  const later = await single.send({ headers: { 'idempotency-key': 'shared-2' } });
  assert.equal(later.status, 422);
});

test('a key that occurs twice in a batch behaves as in two requests after each other', async () => {
  const before = await countMessages();
  const one = messageTo('twice@example.test', { idempotencyKey: 'twice' });
  const changed = messageTo('changed@example.test', { idempotencyKey: 'twice' });
  const invalid = { ...bodyWith({ envelope: { toAddress: 'x' } }), idempotencyKey: 'thrice' };
  const results = await send([
    one,
    one,
    changed,
    invalid,
    messageTo('thrice@example.test', { idempotencyKey: 'thrice' }),
    ...Array.from({ length: 150 }, () => one),
  ]);
  assert.deepEqual(statusesOf(results.slice(0, 5)), [200, 200, 422, 400, 200]);
  for (const result of [results[1], ...results.slice(5)]) assert.deepEqual(result, results[0]);
  assert.equal(await countMessages(), before + 2);
});

test('a response stays small although each message has a hundred problems', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`n${n}`, 0]));
  const response = await post({ messages: Array.from({ length: 1_000 }, () => wrong) });
  assert.equal(response.status, 200);
  assert.ok(response.text.length < 700_000, String(response.text.length));
  const results = response.body.results as Result[];
  assert.equal(results[0]?.details.length, 92);
  assert.deepEqual(results[999]?.details.at(-1), { field: '', reason: 'and 91 more problems' });
});

test('a trailing slash and a base URL that ends in a slash change nothing', async () => {
  const path = `ete/v1/email/${shop.id}/t-0001/batch`;
  for (const variant of [
    `/${path}/`,
    `//${path}`,
    `/${path}?x=1`,
    `/${path.replace('em', '%65m')}`,
  ]) {
    const response = await sendRequest(service.url + variant, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"messages":[]}',
    });
    assert.equal(response.text, '{"results":[]}', variant);
  }
  const { status } = await single.send({ template: 'batch' });
  assert.equal(status, 400, 'a template named batch is a template');
});

test('suspending the account ends a batch in progress', async () => {
  const pausing = await openShop(database, { id: '46600' });
  const options = { account: pausing.id, token: await getToken(service, pausing) };
  // Another node accepts the same key and hasn't committed, so the first chunk waits.
  const blocker = await database.pool.connect();
  await blocker.query('begin');
  await blocker.query(
    `insert into idempotency_key (account_id, key, request_hash, message_id, suppressed_recipients, created_at)
     values ($1, 'held', '\\x00', gen_random_uuid(), '{}', now())`,
    [pausing.id],
  );
  const keyed = { ...goodBody(), idempotencyKey: 'held' };
  const sending = send([keyed, ...Array.from({ length: 120 }, () => goodBody())], options);
  try {
    await waitForLock(database);
    await saveShop(database, { id: pausing.id, suspended: true });
    await waitFor('the suspension', async () => (await single.send(options)).status === 401);
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
  const statuses = statusesOf(await sending);
  assert.deepEqual(new Set(statuses.slice(0, 100)), new Set([200]));
  assert.deepEqual(new Set(statuses.slice(100)), new Set([401]));
});

test('the quota counts each message of a batch that is stored', async () => {
  const limited = await openShop(database, {
    id: '46500',
    quota: { perHour: 7, perDay: undefined },
  });
  // The middle of an hour, so that it doesn't end during the test.
  const now = new Date(clock.now());
  now.setUTCHours(now.getUTCHours() + 1, 20, 0, 0);
  await clock.set(now);
  const options = { account: limited.id, token: await getToken(service, limited) };
  const keyed = messageTo('q@example.test', { idempotencyKey: 'q' });
  const results = await send(
    [keyed, keyed, {}, ...Array.from({ length: 8 }, () => goodBody()), keyed],
    options,
  );
  assert.deepEqual(statusesOf(results), [
    200,
    200,
    400,
    ...Array.from({ length: 6 }, () => 200),
    429,
    429,
    200,
  ]);
  assert.equal(results[9]?.errorName, 'QUOTA_EXCEEDED');
  assert.equal(await countMessages(limited.id), 7);
  const alone = await single.send({ ...options });
  assert.equal(alone.status, 429);
});
