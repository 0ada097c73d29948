import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Resend } from 'resend';
import { resend as dropIn } from '../../src/drop-in/resend/resend.ts';
import { addKey } from '../../test/support/api-key.ts';
import { type CapturedMail, readInbox } from '../../test/support/inbox-client.ts';
import { rawRequest } from '../../test/support/raw-request.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { addSender, saveShop } from '../../test/support/shop.ts';
import { openTestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, service, shop } = await openTestShop({
  environment: { DROP_IN_HOSTS: 'resend.mail.test=resend' },
});
await addSender(database, shop.id, 'onboarding@shop.test', { displayNames: ['*'] });
await addSender(database, shop.id, 'help@shop.test');
await addSender(database, shop.id, 'sales@shop.test');
const key = await addKey(database, shop.id, { scopes: dropIn.scopes });
const resend = new Resend(key, { baseUrl: `${service.url}/resend` });

/** What an SDK returns. */
interface Result<Data> {
  readonly data: Data | null;
  readonly error: {
    readonly name: string;
    readonly message: string;
    readonly statusCode: number | null;
  } | null;
}

function dataOf<Data>({ data, error }: Result<Data>): Data {
  assert.equal(error, null);
  assert.ok(data);
  return data;
}

function errorOf({ data, error }: Result<unknown>): readonly [number | null, string, string] {
  assert.equal(data, null);
  assert.ok(error);
  return [error.statusCode, error.name, error.message];
}

async function mailTo(address: string): Promise<CapturedMail> {
  const [mail] = await readInbox(service.url, `?to=${address}&wait=60`);
  assert.ok(mail, address);
  return mail;
}

const from = 'Acme <onboarding@shop.test>';

test('emails.send sends what was asked, part by part', async () => {
  const pdf = Buffer.from('%PDF-1.7\nInvoice');
  const logo = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');
  const { id } = dataOf(
    await resend.emails.send({
      from: 'Ünï Cödé <onboarding@shop.test>',
      to: ['ada@resend.test', 'Bob <bob@resend.test>'],
      cc: 'cc@resend.test',
      bcc: ['bcc@resend.test'],
      replyTo: ['help@shop.test', 'Sales <sales@shop.test>'],
      subject: 'It {{works}}',
      html: '<p>Hello <a href="https://shop.test/a">world</a></p><img src="cid:logo">',
      headers: { 'X-Entity-Ref-ID': '123' },
      tags: [{ name: 'category', value: 'confirm_email' }],
      attachments: [
        { filename: 'invoice.pdf', content: pdf },
        { filename: 'logo.png', content: logo.toString('base64'), contentId: 'logo' },
      ],
    }),
  );
  for (const address of ['ada', 'bob', 'cc', 'bcc']) {
    const { source, envelopeTo } = await mailTo(`${address}@resend.test`);
    assert.deepEqual(envelopeTo, [`${address}@resend.test`]);
    const mail = readSentMail(source);
    assert.equal(mail.decoded('from'), 'Ünï Cödé <onboarding@shop.test>');
    assert.equal(mail.decoded('to'), 'ada@resend.test, Bob <bob@resend.test>');
    assert.equal(mail.decoded('cc'), 'cc@resend.test');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test, Sales <sales@shop.test>');
    assert.equal(mail.subject, 'It {{works}}');
    assert.equal(
      mail.html?.trimEnd(),
      '<p>Hello <a href="https://shop.test/a">world</a></p><img src="cid:logo">',
    );
    assert.equal(mail.text?.trimEnd(), 'Hello world <https://shop.test/a>');
    assert.equal(mail.fields.get('x-entity-ref-id'), '123');
    assert.deepEqual(
      mail.files.map(({ filename, type, contentId, content }) => [
        filename,
        type,
        contentId,
        content,
      ]),
      [
        ['logo.png', 'image/png', 'logo', logo],
        ['invoice.pdf', 'application/pdf', undefined, pdf],
      ],
    );
    assert.doesNotMatch(source, /bcc@resend/);
  }
  const email = await waitFor('the outcome', async () => {
    const read = dataOf(await resend.emails.get(id));
    return read.last_event === 'delivered' && read;
  });
  assert.deepEqual(email.to, ['ada@resend.test', 'Bob <bob@resend.test>']);
  assert.equal(email.from, 'Ünï Cödé <onboarding@shop.test>');
  assert.deepEqual(email.cc, ['cc@resend.test']);
  assert.deepEqual(email.reply_to, ['help@shop.test', 'Sales <sales@shop.test>']);
  assert.equal(email.subject, 'It {{works}}');
  assert.match(email.html ?? '', /^<p>Hello/);
  assert.deepEqual(email.tags, [{ name: 'category', value: 'confirm_email' }]);
  assert.match(email.message_id, /^<[0-9a-f-]{36}@shop\.test>$/);
  assert.equal(email.object, 'email');
});

test('emails.send with text alone, and with an empty text beside HTML', async () => {
  dataOf(await resend.emails.send({ from, to: 'text@resend.test', subject: 'Text', text: 'Only' }));
  const text = readSentMail((await mailTo('text@resend.test')).source);
  assert.deepEqual([text.text?.trimEnd(), text.html], ['Only', undefined]);
  dataOf(
    await resend.emails.send({
      from,
      to: 'html@resend.test',
      subject: 'H',
      html: '<p>H',
      text: '',
    }),
  );
  const html = readSentMail((await mailTo('html@resend.test')).source);
  assert.deepEqual([html.text, html.html?.trimEnd()], [undefined, '<p>H']);
});

test('empty texts are absent lists, and files can be Buffers, as programs without the SDK send them', async () => {
  const files = [Buffer.from('%PDF-1.7\nä'), Buffer.alloc(200_000, '%PDF-1.7\n')];
  const text = '"content":{"type":"Buffer","data":[77,90]}';
  const email = {
    ...{ from, to: 'plain@resend.test', cc: '', bcc: '', reply_to: '', subject: 'Ä' },
    ...{ html: '', text, attachments: [] as object[] },
  };
  const post = (body: object) =>
    sendRequest(`${service.url}/resend/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const attachments = files.map((content, index) => ({ content, filename: `${index}.pdf` }));
  const { status, body } = await post({ ...email, attachments });
  assert.equal(status, 200, String(body.message));
  const mail = readSentMail((await mailTo('plain@resend.test')).source);
  assert.deepEqual([mail.subject, mail.text?.trimEnd(), mail.html], ['Ä', text, undefined]);
  assert.deepEqual([mail.decoded('cc'), mail.decoded('reply-to')], [undefined, undefined]);
  assert.deepEqual(
    mail.files.map(({ content }) => content),
    files,
  );
  const nobody = await post({ ...email, to: '' });
  assert.equal(nobody.body.message, 'To is required.');
  const unbounded = await post({
    ...email,
    attachments: [{ content: { type: 'Buffer', data: [1, {}] }, filename: 'a.pdf' }],
  });
  assert.equal(unbounded.body.message, 'Attachments[0].content must be a string.');
});

test('an idempotency key sends once, and another email with it is refused', async () => {
  const email = { from, to: 'once@resend.test', subject: 'Once', text: 'Once' };
  const options = { idempotencyKey: 'welcome/123' };
  const first = dataOf(await resend.emails.send(email, options));
  assert.deepEqual(dataOf(await resend.emails.send(email, options)), first);
  const [status, name] = errorOf(await resend.emails.send({ ...email, text: 'Twice' }, options));
  assert.deepEqual([status, name], [409, 'invalid_idempotent_request']);
  const [invalid, why] = errorOf(
    await resend.emails.send(email, { idempotencyKey: 'x'.repeat(256) }),
  );
  assert.deepEqual([invalid, why], [400, 'invalid_idempotency_key']);
});

test('a template is sent by its ID with its variables', async () => {
  const { id } = dataOf(
    await resend.emails.send({
      from: 'Demo Shop <orders@shop.test>',
      to: 'Ada <template@resend.test>',
      // As `signalpost import` writes it: in lower case, with hyphens.
      template: { id: 'T 0001', variables: { 'Order Number': 1001, 'First Name': 'Ada' } },
    }),
  );
  const mail = readSentMail((await mailTo('template@resend.test')).source);
  assert.equal(mail.subject, 'Your order 1001');
  assert.match(mail.html ?? '', /Hello Ada, your order is 1001/);
  assert.equal(mail.decoded('to'), 'Ada <template@resend.test>');
  const email = dataOf(await resend.emails.get(id));
  assert.deepEqual([email.subject, email.html], ['Your order 1001', null]);
  const [status, , message] = errorOf(
    await resend.emails.send({ to: 'x@resend.test', template: { id: 't-0001' } }),
  );
  assert.equal(status, 422);
  assert.match(message, /^Template\.variables\.Order Number has no value/);
  const unknown = errorOf(
    await resend.emails.send({ to: 'x@resend.test', template: { id: 'no' } }),
  );
  assert.deepEqual(unknown.slice(0, 2), [404, 'not_found']);
});

test('batch.send sends all or nothing that is invalid, and permissively what is valid', async () => {
  const good = (name: string) => ({ from, to: `${name}@batch.test`, subject: name, text: name });
  const bad = { ...good('bad'), from: 'stranger@elsewhere.test' };
  const sent = dataOf(await resend.batch.send([good('one'), good('two')]));
  assert.equal(sent.data.length, 2);
  await mailTo('one@batch.test');
  await mailTo('two@batch.test');
  const [status, , message] = errorOf(await resend.batch.send([good('three'), bad]));
  assert.equal(status, 403);
  assert.match(message, /^\[1\]\.from is not a verified sender/);
  assert.deepEqual(await readInbox(service.url, '?to=three@batch.test'), []);
  const permissive = dataOf(
    await resend.batch.send([good('four'), bad], { batchValidation: 'permissive' }),
  );
  assert.equal(permissive.data.length, 1);
  assert.deepEqual(
    permissive.errors.map(({ index }) => index),
    [1],
  );
  await mailTo('four@batch.test');
  const repeated = { idempotencyKey: 'batch-1' };
  const first = dataOf(await resend.batch.send([good('five')], repeated));
  assert.deepEqual(dataOf(await resend.batch.send([good('five')], repeated)), first);
  const tooMany = Array.from({ length: 101 }, (_, index) => good(`n${index}`));
  assert.equal(errorOf(await resend.batch.send(tooMany))[0], 422);
});

test('a scheduled email is moved and canceled for all its recipients', async () => {
  const hour = 3_600_000;
  const scheduledAt = new Date(Date.now() + hour).toISOString();
  const { id } = dataOf(
    await resend.emails.send({
      from,
      to: ['later@resend.test', 'too@resend.test'],
      subject: 'Later',
      text: 'Later',
      scheduledAt,
    }),
  );
  const email = dataOf(await resend.emails.get(id));
  assert.deepEqual([email.last_event, email.scheduled_at], ['scheduled', scheduledAt]);
  const moved = new Date(Date.now() + 2 * hour).toISOString();
  assert.deepEqual(dataOf(await resend.emails.update({ id, scheduledAt: moved })), {
    object: 'email',
    id,
  });
  assert.equal(dataOf(await resend.emails.get(id)).scheduled_at, moved);
  assert.deepEqual(dataOf(await resend.emails.cancel(id)), { object: 'email', id });
  const { rows } = await database.pool.query(
    `select q.canceled from queue_entry q join message m on m.id = q.message_id where m.content ->> 'subjectLine' = 'Later'`,
  );
  assert.ok(rows.every(({ canceled }) => canceled === true));
  assert.equal(errorOf(await resend.emails.cancel(id))[0], 422);
  const soon = await resend.emails.send({
    from,
    to: 'soon@resend.test',
    subject: 'S',
    text: 'S',
    scheduledAt: 'in 1 min',
  });
  assert.equal(dataOf(await resend.emails.get(dataOf(soon).id)).last_event, 'scheduled');
  const wrong = await resend.emails.send({
    from,
    to: 'x@resend.test',
    subject: 'S',
    text: 'S',
    scheduledAt: 'tomorrow at noon',
  });
  assert.match(errorOf(wrong)[2], /^Scheduled_at must be a time/);
});

test('emails.list pages through emails, newest first', async () => {
  const page = dataOf(await resend.emails.list({ limit: 2 }));
  assert.equal(page.object, 'list');
  assert.deepEqual([page.data.length, page.has_more], [2, true]);
  const [newest, second] = page.data;
  const older = dataOf(await resend.emails.list({ limit: 2, after: newest?.id as string }));
  assert.equal(older.data[0]?.id, second?.id);
  const newer = dataOf(await resend.emails.list({ before: second?.id as string }));
  assert.deepEqual(
    newer.data.map(({ id }) => id),
    [newest?.id],
  );
  assert.equal(newer.has_more, false);
  assert.equal(errorOf(await resend.emails.list({ limit: 1_000 }))[0], 422);
});

test('domains are listed and read', async () => {
  await database.pool.query(
    `insert into sending_domain (account_id, domain, state, state_at, return_path) values ($1, 'shop.test', 'pending', now(), 'bounce.shop.test')`,
    [shop.id],
  );
  const [domain] = dataOf(await resend.domains.list()).data;
  assert.deepEqual([domain?.id, domain?.status], ['shop.test', 'pending']);
  const detail = dataOf(await resend.domains.get('shop.test'));
  assert.equal(detail.object, 'domain');
  assert.ok(detail.records.length > 0);
  assert.equal(errorOf(await resend.domains.get('other.test'))[1], 'not_found');
  assert.equal(errorOf(await resend.domains.get('%00'))[0], 422);
});

const refusals: readonly (readonly [
  what: string,
  members: object,
  message: RegExp,
  name?: string,
])[] = [
  ['no sender', { from: undefined }, /^From is required\.$/, 'missing_required_field'],
  [
    'a sender that isn’t verified',
    { from: 'a@other.test' },
    /^From is not a verified sender of this account\.$/,
  ],
  ['a malformed sender', { from: 'Acme' }, /^From is not an address/],
  ['a malformed recipient', { to: ['a@b.test', 'nobody'] }, /^To\[1\] is not an address/],
  [
    'a reply address that isn’t verified',
    { replyTo: 'a@other.test' },
    /^Reply_to is not a verified/,
  ],
  ['neither HTML nor text', { text: undefined }, /^Html or text needs html, text or both/],
  ['a recipient of the wrong type', { to: 5 }, /^To must be a string or must be an array\.$/],
  ['a topic', { topicId: 't1' }, /^Topic_id isn’t supported/],
  [
    'a file to fetch',
    { attachments: [{ path: 'https://shop.test/a.pdf', filename: 'a.pdf' }] },
    /^Attachments\[0\]\.path isn’t supported/,
  ],
  [
    'a program',
    { attachments: [{ filename: 'run.exe', content: Buffer.from('MZ').toString('base64') }] },
    /^Attachments\[0\] /,
  ],
  [
    'a header of the service',
    { headers: { 'List-Unsubscribe': '<https://a.test>' } },
    /^Headers\.List-Unsubscribe is set by the service/,
  ],
  ['a long tag', { tags: [{ name: 'a'.repeat(41), value: 'b' }] }, /^Tags/],
  [
    'a tag twice',
    { tags: [1, 2].map((value) => ({ name: 'a', value: String(value) })) },
    /^Tags\[1\]\.name is given twice/,
  ],
  [
    'a suppressed recipient',
    { to: 'suppressed@simulator.test' },
    /^To is suppressed for this account/,
  ],
];

for (const [what, members, pattern, expected = 'validation_error'] of refusals)
  test(`an email with ${what} is refused in Resend’s form, naming it`, async () => {
    const email = { from, to: 'x@resend.test', subject: 'No', text: 'No', ...members };
    const [status, name, message] = errorOf(await resend.emails.send(email as never));
    assert.match(message, pattern);
    assert.equal(name, expected);
    assert.ok(status === 422 || status === 403, String(status));
  });

test('an unknown member or parameter is refused by name', async () => {
  const listed = await sendRequest(`${service.url}/resend/emails?status=sent`, {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(listed.body.message, 'Status isn’t known to Signalpost; remove it.');
  const { status, body } = await sendRequest(`${service.url}/resend/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from, to: 'x@resend.test', subject: 'x', text: 'x', priority: 'high' }),
  });
  assert.equal(status, 422);
  assert.equal(body.message, 'Priority isn’t known to Signalpost; remove it.');
});

test('keys are checked as everywhere: missing, wrong, and without the permission', async () => {
  const url = `${service.url}/resend`;
  const email = { from, to: 'x@resend.test', subject: 'x', text: 'x' };
  const other = (text: string) => new Resend(text, { baseUrl: url });
  assert.deepEqual(errorOf(await other('re_123').emails.send(email)).slice(0, 2), [
    403,
    'invalid_api_key',
  ]);
  const none = await sendRequest(`${url}/emails`, { method: 'POST', headers: {}, body: '{' });
  assert.deepEqual([none.status, none.body.name], [401, 'missing_api_key']);
  const sender = other(await addKey(database, shop.id, { scopes: ['messages:send'] }));
  assert.deepEqual(errorOf(await sender.emails.send(email)).slice(0, 2), [
    401,
    'restricted_api_key',
  ]);
  assert.deepEqual(errorOf(await sender.emails.list()).slice(0, 2), [401, 'restricted_api_key']);
  dataOf(
    await sender.emails.send({
      to: 'bound@resend.test',
      template: { id: 't-0001', variables: { 'Order Number': 'A' } },
    }),
  );
});

test('each other call of the SDK is answered in Resend’s form, naming it', async () => {
  const results = [
    [await resend.domains.create({ name: 'a.test' }), 'POST /domains'],
    [await resend.domains.remove('shop.test'), 'DELETE /domains/shop.test'],
    [await resend.apiKeys.list(), 'GET /api-keys'],
    [await resend.audiences.list(), 'GET /segments'],
    [await resend.contacts.list({ audienceId: 'a' }), 'GET /segments/a/contacts'],
    [await resend.broadcasts.list(), 'GET /broadcasts'],
    [await resend.templates.list(), 'GET /templates'],
    [await resend.webhooks.list(), 'GET /webhooks'],
    [await resend.suppressions.list(), 'GET /suppressions'],
  ] as const;
  for (const [result, call] of results) {
    const [status, name, message] = errorOf(result as Result<unknown>);
    assert.deepEqual([status, name], [404, 'not_found']);
    assert.equal(message, `${call} isn’t supported by Signalpost.`);
  }
});

test('a host of DROP_IN_HOSTS needs no prefix, and serves nothing else', async () => {
  const headers = { host: 'Resend.mail.test:8080', authorization: `Bearer ${key}` };
  const list = await rawRequest(`${service.url}/emails?limit=1`, { headers });
  assert.equal(list.status, 200, list.text);
  assert.equal(JSON.parse(list.text).data.length, 1);
  const other = await rawRequest(`${service.url}/healthz`, { headers });
  assert.deepEqual(JSON.parse(other.text), {
    statusCode: 404,
    name: 'not_found',
    message: 'GET /healthz isn’t supported by Signalpost.',
  });
  const elsewhere = await rawRequest(`${service.url}/emails`, {
    headers: { ...headers, host: 'mail.test' },
  });
  assert.equal(elsewhere.status, 404);
});

test('a quota that is used up is answered in the form of each provider, not as a wrong key', async () => {
  const id = await saveShop(database, { id: '46202', quota: { perHour: 1, perDay: undefined } });
  await addSender(database, id, 'mail@quota.test');
  const text = await addKey(database, id);
  const limited = new Resend(text, { baseUrl: `${service.url}/resend` });
  const mail = { from: 'mail@quota.test', to: 'ann@quota.test', subject: 'One', text: 'One' };
  dataOf(await limited.emails.send(mail));
  const reason = 'The account has reached its quota.';
  assert.deepEqual(errorOf(await limited.emails.send(mail)), [429, 'daily_quota_exceeded', reason]);
  const post = async (path: string, headers: Record<string, string>, body: string) => {
    const response = await fetch(`${service.url}/${path}`, { method: 'POST', headers, body });
    return [response.status, Object.values((await response.json()) as object)] as const;
  };
  const basic = Buffer.from(`api:${text}`).toString('base64');
  assert.deepEqual(
    await post(
      'mailgun/v3/quota.test/messages',
      { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
      String(new URLSearchParams(mail)),
    ),
    [429, [reason]],
  );
  const { from: From, to: To, subject: Subject, text: TextBody } = mail;
  assert.deepEqual(
    await post(
      'postmark/email',
      { 'x-postmark-server-token': text, 'content-type': 'application/json' },
      JSON.stringify({ From, To, Subject, TextBody }),
    ),
    [429, [405, reason]],
  );
});
