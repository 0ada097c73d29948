import assert from 'node:assert/strict';
import { test } from 'node:test';
import defaultClient from '@sendgrid/client';
import defaultMail from '@sendgrid/mail';
import { removeApiKey } from '../../src/accounts/access/api-key-store.ts';
import { sendgrid as dropIn } from '../../src/drop-in/sendgrid/sendgrid.ts';
import { addKey } from '../../test/support/api-key.ts';
import { type CapturedMail, readInbox } from '../../test/support/inbox-client.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { addSender, publishShopTemplate, saveShop } from '../../test/support/shop.ts';
import { openTestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, service, shop } = await openTestShop();
await addSender(database, shop.id, 'test@shop.test', { displayNames: ['*'] });
await addSender(database, shop.id, 'help@shop.test');
await addSender(database, shop.id, 'sales@shop.test');
const key = await addKey(database, shop.id, { scopes: dropIn.scopes });

const url = `${service.url}/sendgrid`;
const { SENDGRID_API_KEY, SENDGRID_BASE_URL } = dropIn.environment(url, key);

/** The SDK with this key. Its types have no constructors. */
function sdkWith(apiKey: string) {
  const client: typeof defaultClient = Reflect.construct(defaultClient.constructor, []);
  client.setApiKey(apiKey);
  client.setDefaultRequest('baseUrl', SENDGRID_BASE_URL as string);
  const sgMail: typeof defaultMail = Reflect.construct(defaultMail.constructor, []);
  sgMail.setClient(client);
  return { client, sgMail };
}

const { client, sgMail } = sdkWith(SENDGRID_API_KEY as string);

type Message = Parameters<typeof sgMail.send>[0];
type Errors = readonly { readonly message: string; readonly field: string | null }[];

async function errorsOf(sending: Promise<unknown>): Promise<readonly [number, ...Errors]> {
  const error = await sending.then(
    () => assert.fail('it was sent'),
    (reason) => reason,
  );
  assert.ok(Array.isArray(error.response?.body?.errors), String(error));
  for (const one of error.response.body.errors)
    assert.deepEqual(Object.keys(one), ['message', 'field', 'help']);
  return [error.code, ...error.response.body.errors];
}

async function mailTo(address: string): Promise<CapturedMail> {
  const [found] = await readInbox(service.url, `?to=${address}&wait=60`);
  assert.ok(found, address);
  return found;
}

const from = 'test@shop.test';
const text = 'and easy to do anywhere, even with Node.js';
const html = '<strong>and easy to do anywhere, even with Node.js</strong>';

function messageTo(to: string, more: object = {}): Message {
  return { to, from, subject: 'Sending with SendGrid is Fun', text, html, ...more } as Message;
}

async function attributesOf(messageId: string) {
  const { rows } = await database.pool.query('select tag, content from message where id = $1', [
    messageId,
  ]);
  return { tag: rows[0]?.tag, attributes: rows[0]?.content.attributes };
}

test('the quick start of the README sends its email', async () => {
  const [response, body] = await sgMail.send(messageTo('quick@sendgrid.test'));
  assert.equal(response.statusCode, 202);
  assert.equal(body, '');
  assert.match(String(response.headers['x-message-id']), /^[0-9a-f-]{36}$/);
  const mail = readSentMail((await mailTo('quick@sendgrid.test')).source);
  assert.equal(mail.subject, 'Sending with SendGrid is Fun');
  assert.equal(mail.text?.trimEnd(), text);
  assert.equal(mail.html?.trimEnd(), html);
  assert.equal(mail.decoded('from'), 'test@shop.test');
});

test('a mail with everything is sent as asked, part by part', async () => {
  const pdf = Buffer.from('%PDF-1.7\nInvoice');
  const logo = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');
  const [response] = await sgMail.send({
    to: [{ email: 'ada@sendgrid.test', name: 'Ada' }, 'bob@sendgrid.test'],
    cc: 'Cc <cc@sendgrid.test>',
    bcc: ['bcc@sendgrid.test'],
    from: { email: from, name: 'Ünï Cödé' },
    replyToList: [{ email: 'help@shop.test' }, { email: 'sales@shop.test', name: 'Sales' }],
    subject: 'It {{works}}',
    html: '<p>Hello <a href="https://shop.test/a">world</a></p><img src="cid:logo">',
    text: 'Hello world',
    headers: { 'X-CustomHeader': '123' },
    categories: ['welcome', 'transactional'],
    customArgs: { myArg: 'hey', order: '1001' },
    trackingSettings: { clickTracking: { enable: false }, openTracking: { enable: false } },
    mailSettings: { footer: { enable: false }, sandboxMode: { enable: false } },
    attachments: [
      { content: pdf.toString('base64'), filename: 'invoice.pdf', disposition: 'attachment' },
      {
        content: logo.toString('base64'),
        filename: 'logo.png',
        type: 'image/png',
        disposition: 'inline',
        content_id: 'logo',
      },
    ],
  } as never);
  for (const address of ['ada', 'bob', 'cc', 'bcc']) {
    const { source, envelopeTo } = await mailTo(`${address}@sendgrid.test`);
    assert.deepEqual(envelopeTo, [`${address}@sendgrid.test`]);
    const mail = readSentMail(source);
    assert.equal(mail.decoded('from'), 'Ünï Cödé <test@shop.test>');
    assert.equal(mail.decoded('to'), 'Ada <ada@sendgrid.test>, bob@sendgrid.test');
    assert.equal(mail.decoded('cc'), 'Cc <cc@sendgrid.test>');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test, Sales <sales@shop.test>');
    assert.equal(mail.subject, 'It {{works}}');
    assert.equal(
      mail.html?.trimEnd(),
      '<p>Hello <a href="https://shop.test/a">world</a></p><img src="cid:logo">',
    );
    assert.equal(mail.text?.trimEnd(), 'Hello world');
    assert.equal(mail.fields.get('x-customheader'), '123');
    assert.deepEqual(
      mail.files.map((file) => [file.filename, file.type, file.contentId, file.content]),
      [
        ['logo.png', 'image/png', 'logo', logo],
        ['invoice.pdf', 'application/pdf', undefined, pdf],
      ],
    );
    assert.doesNotMatch(source, /bcc@sendgrid/);
  }
  assert.deepEqual(await attributesOf(response.headers['x-message-id']), {
    tag: 'welcome',
    attributes: { myArg: 'hey', order: '1001', categories: 'welcome, transactional' },
  });
});

test('sendMultiple and personalizations send one message each, with their own members', async () => {
  await sgMail.sendMultiple({
    ...(messageTo('') as object),
    to: ['one@multiple.test', 'two@multiple.test'],
  } as never);
  for (const name of ['one', 'two']) {
    const mail = readSentMail((await mailTo(`${name}@multiple.test`)).source);
    assert.equal(mail.decoded('to'), `${name}@multiple.test`);
  }
  // Larger than a body without attachments, so its content is cut out and decoded for each.
  const file = Buffer.from('Terms and conditions. '.repeat(20_000));
  const [response] = await sgMail.send({
    from: { email: from, name: 'Shop' },
    subject: 'Hello {{name}}',
    text: 'For {{name}}.',
    html: '<p>For {{name}}.</p>',
    headers: { 'X-All': 'all', 'X-Own': 'all' },
    customArgs: { all: '1', own: '0' },
    attachments: [{ content: file.toString('base64'), filename: 'terms.txt' }],
    personalizations: [
      {
        to: 'first@personal.test',
        substitutions: { name: 'Ada & Co' },
        headers: { 'X-Own': 'first' },
        customArgs: { own: '1' },
      },
      {
        to: [{ email: 'second@personal.test', name: 'Second' }],
        from: { email: 'help@shop.test' },
        cc: 'second-cc@personal.test',
        subject: 'Own {{name}}',
        substitutions: { name: 'Bob' },
      },
    ],
  } as never);
  const first = readSentMail((await mailTo('first@personal.test')).source);
  assert.equal(first.subject, 'Hello Ada & Co');
  assert.equal(first.text?.trimEnd(), 'For Ada & Co.');
  assert.equal(first.html?.trimEnd(), '<p>For Ada &amp; Co.</p>');
  assert.deepEqual([first.fields.get('x-all'), first.fields.get('x-own')], ['all', 'first']);
  assert.ok(first.files[0]?.content.equals(file));
  const second = readSentMail((await mailTo('second@personal.test')).source);
  assert.equal(second.subject, 'Own Bob');
  assert.equal(second.decoded('from'), 'help@shop.test');
  assert.equal(second.decoded('to'), 'Second <second@personal.test>');
  assert.equal(second.decoded('cc'), 'second-cc@personal.test');
  assert.equal(second.fields.get('x-own'), 'all');
  assert.ok(second.files[0]?.content.equals(file));
  const { attributes } = await attributesOf(response.headers['x-message-id']);
  assert.deepEqual(attributes, { all: '1', own: '1' });
});

test('a dynamic template is sent by SendGrid’s ID with its data', async () => {
  await publishShopTemplate(database, shop, {
    id: 'd-f43daeeaef504760851f727007e0b5d0',
    source: {
      subject: 'Order {{number}}',
      html: '<p>{{name}}{{#paid}}, paid{{/paid}}{{#gift}}, a gift{{/gift}}</p>',
    },
  });
  const [response] = await sgMail.send({
    to: 'Ada <dynamic@sendgrid.test>',
    from: { email: from, name: 'Shop' },
    templateId: 'd-f43daeeaef504760851f727007e0b5d0',
    dynamicTemplateData: { name: 'Ada', number: 1001, paid: true, gift: false },
    category: 'order',
  } as never);
  const mail = readSentMail((await mailTo('dynamic@sendgrid.test')).source);
  assert.equal(mail.subject, 'Order 1001');
  assert.match(mail.html ?? '', /<p>Ada, paid<\/p>/);
  assert.equal((await attributesOf(response.headers['x-message-id'])).tag, 'order');
  const template = { from, templateId: 'd-f43daeeaef504760851f727007e0b5d0' };
  const file = Buffer.from('Order '.repeat(60_000));
  await sgMail.send({
    ...template,
    subject: 'Own {{number}}',
    attachments: [{ content: file.toString('base64'), filename: 'order.txt' }],
    dynamicTemplateData: { name: 'All', number: 1, paid: false, gift: true },
    personalizations: [
      { to: 'each-1@dynamic.test' },
      { to: 'each-2@dynamic.test', dynamicTemplateData: { number: 2 } },
    ],
  } as never);
  for (const number of [1, 2]) {
    const each = readSentMail((await mailTo(`each-${number}@dynamic.test`)).source);
    assert.equal(each.subject, `Own ${number}`);
    assert.match(each.html ?? '', /<p>All, a gift<\/p>/);
    assert.ok(each.files[0]?.content.equals(file));
  }
  const [status, missing] = await errorsOf(
    sgMail.send({ ...template, to: 'x@sendgrid.test' } as never),
  );
  assert.equal(status, 400);
  assert.match(missing?.field ?? '', /^personalizations\[0\]\.dynamic_template_data\./);
  const unknown = await errorsOf(
    sgMail.send({ to: 'x@sendgrid.test', from, templateId: 'd-unknown' } as never),
  );
  assert.deepEqual([unknown[0], unknown[1]?.field], [400, 'template_id']);
});

test('sandbox mode checks everything and sends nothing', async () => {
  const mailSettings = { sandboxMode: { enable: true } };
  const [response] = await sgMail.send(messageTo('sandbox@sendgrid.test', { mailSettings }));
  assert.equal(response.statusCode, 200);
  const [several] = await sgMail.send(
    messageTo('', { to: ['sandbox@sendgrid.test', 'b@sendgrid.test'], mailSettings }),
    true,
  );
  assert.equal(several.statusCode, 200);
  const [status, error] = await errorsOf(
    sgMail.send(messageTo('sandbox@sendgrid.test', { mailSettings, from: 'no@other.test' })),
  );
  assert.deepEqual([status, error?.field], [403, 'from']);
  assert.deepEqual(await readInbox(service.url, '?to=sandbox@sendgrid.test'), []);
});

test('scheduled emails of a batch are canceled together', async () => {
  const [made, batch] = await client.request({ method: 'POST', url: '/v3/mail/batch' });
  assert.equal(made.statusCode, 201);
  const batchId = batch.batch_id as string;
  const sendAt = Math.floor(Date.now() / 1_000) + 3_600;
  const [response] = await sgMail.send(messageTo('later@sendgrid.test', { sendAt, batchId }));
  await sgMail.send(messageTo('later-too@sendgrid.test', { sendAt, batchId }));
  const [other] = await sgMail.send(messageTo('other@sendgrid.test', { sendAt }));
  const { rows } = await database.pool.query(
    `select content ->> 'sendAt' as at, external_id from message where id = $1`,
    [response.headers['x-message-id']],
  );
  assert.deepEqual(rows, [{ at: new Date(sendAt * 1_000).toISOString(), external_id: batchId }]);
  const cancel = (body: object) =>
    client.request({ method: 'POST', url: '/v3/user/scheduled_sends', body });
  const [canceled, answer] = await cancel({ batch_id: batchId, status: 'cancel' });
  assert.equal(canceled.statusCode, 201);
  assert.deepEqual(answer, { batch_id: batchId, status: 'cancel' });
  const state = await database.pool.query(
    'select canceled from queue_entry where message_id = any($1)',
    [[response.headers['x-message-id'], other.headers['x-message-id']]],
  );
  assert.ok(
    state.rows.some((row) => row.canceled !== true),
    'the other email still waits',
  );
  const [again, nothing] = await errorsOf(cancel({ batch_id: batchId, status: 'cancel' }));
  assert.deepEqual([again, nothing?.field], [400, null]);
  const paused = await errorsOf(cancel({ batch_id: batchId, status: 'pause' }));
  assert.deepEqual([paused[0], paused[1]?.field], [400, 'status']);
  const foreign = batchId.replace(/^\d+/, '1');
  for (const wrong of [foreign, 'no-batch'])
    for (const call of [
      cancel({ batch_id: wrong, status: 'cancel' }),
      sgMail.send(messageTo('x@sendgrid.test', { sendAt, batchId: wrong })),
    ]) {
      const [status, error] = await errorsOf(call as Promise<unknown>);
      assert.deepEqual([status, error?.field], [400, 'batch_id']);
    }
});

const refusals: readonly (readonly [
  what: string,
  members: object,
  message: RegExp,
  status?: number,
])[] = [
  ['a sender that isn’t verified', { from: 'a@other.test' }, /^From is not a verified sender/, 403],
  ['a malformed sender', { from: 'Acme' }, /^From\.email /],
  ['a malformed recipient', { to: 'nobody' }, /^Personalizations\[0\]\.to\[0\]\.email has no @/],
  [
    'a name with a line break',
    { to: { email: 'a@b.test', name: 'A\nB' } },
    /^Personalizations\[0\]\.to\[0\]\.name must not/,
  ],
  [
    'a reply address that isn’t verified',
    { replyTo: 'a@other.test' },
    /^Reply_to is not a verified/,
    403,
  ],
  ['no content', { text: undefined, html: undefined }, /^Content needs html, text or both/],
  ['no subject', { subject: undefined }, /^Subject is required/],
  [
    'AMP content',
    { text: undefined, html: undefined, content: [{ type: 'text/x-amp-html', value: 'x' }] },
    /^Content\[0\]\.type must be/,
  ],
  [
    'two HTML parts',
    { text: undefined, content: [{ type: 'text/html', value: 'x' }] },
    /^Content\[1\]\.type is given twice/,
  ],
  ['an unsubscribe group', { asm: { groupId: 5 } }, /^Asm isn’t supported/],
  ['an IP pool', { ipPoolName: 'a' }, /^Ip_pool_name isn’t supported/],
  ['sections', { sections: { ':a': 'b' } }, /^Sections isn’t supported/],
  [
    'substitutions of other wrappers',
    { substitutionWrappers: ['-', '-'], substitutions: { name: 'A' } },
    /^Personalizations\[0\]\.substitutions\.-name- must be a name in double braces/,
  ],
  [
    'data without a template',
    { personalizations: [{ to: 'a@b.test', dynamic_template_data: { a: 1 } }] },
    /^Personalizations\[0\]\.dynamic_template_data needs a template_id/,
  ],
  [
    'a footer',
    { mailSettings: { footer: { enable: true, text: 'x', html: 'x' } } },
    /^Mail_settings\.footer can’t be enabled/,
  ],
  [
    'a bypass of the suppressions',
    { mailSettings: { bypassListManagement: { enable: true } } },
    /^Mail_settings\.bypass_list_management can’t be enabled/,
  ],
  [
    'Google Analytics',
    { trackingSettings: { ganalytics: { enable: true } } },
    /^Tracking_settings\.ganalytics can’t be enabled/,
  ],
  [
    'a place for the open image',
    { trackingSettings: { openTracking: { enable: true, substitutionTag: '%o%' } } },
    /^Tracking_settings\.open_tracking\.substitution_tag isn’t/,
  ],
  [
    'tracked links of the text',
    { trackingSettings: { clickTracking: { enable: true, enableText: true } } },
    /^Tracking_settings\.click_tracking\.enable_text isn’t/,
  ],
  ['a program', { attachments: [{ filename: 'run.exe', content: 'TVo=' }] }, /^Attachments\[0\] /],
  [
    'an inline file without ID',
    { attachments: [{ filename: 'a.png', content: 'TVo=', disposition: 'inline' }] },
    /^Attachments\[0\]\.content_id is required/,
  ],
  [
    'a header of the service',
    { headers: { 'List-Unsubscribe': '<https://a.test>' } },
    /^Headers\.List-Unsubscribe is set by/,
  ],
  ['a long custom argument', { customArgs: { a: 'b'.repeat(201) } }, /^Custom_args/],
  ['a long category', { category: 'b'.repeat(49) }, /^Categories/],
  [
    'a category that is an attribute, too',
    { categories: ['a', 'b'], customArgs: { categories: 'c' } },
    /^Custom_args\.categories can’t/,
  ],
  [
    'a send time long past',
    { sendAt: 1_409_348_513 },
    /^Send_at is more than 5 minutes in the past/,
  ],
  [
    'a suppressed recipient',
    { to: 'suppressed@simulator.test' },
    /^Personalizations\[0\]\.to is suppressed for this account/,
  ],
];

for (const [what, members, pattern, expected = 400] of refusals)
  test(`a mail with ${what} is refused in SendGrid’s form, naming it`, async () => {
    const [status, error] = await errorsOf(sgMail.send(messageTo('x@sendgrid.test', members)));
    assert.match(error?.message ?? '', pattern);
    assert.equal(status, expected);
    assert.equal(error?.message.toLowerCase().startsWith(error.field?.toLowerCase() ?? '?'), true);
  });

test('suppressed addresses are listed by page, read, removed and added', async () => {
  const reasons = { bounces: 'hard_bounce', blocks: 'manual', spam_reports: 'complaint' };
  const times = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];
  for (const reason of Object.values(reasons))
    for (const [index, time] of times.entries())
      await database.pool.query(
        'insert into suppression (account_id, address, reason, created_at) values ($1, $2, $3, $4)',
        [shop.id, `${reason}-${index}@list.test`, reason, time],
      );
  await database.pool.query(
    `insert into suppression (account_id, address, reason, expires_at)
     values ($1, 'expired@list.test', 'hard_bounce', now() - interval '1 minute')`,
    [shop.id],
  );
  const more = {
    bounces: { reason: 'The address bounced permanently.', status: '5.0.0' },
    blocks: { reason: 'The address was suppressed by hand.', status: '5.7.1' },
    spam_reports: { ip: '' },
  };
  for (const [name, reason] of Object.entries(reasons)) {
    const path = `/v3/suppression/${name}`;
    const list = async (qs: object) => {
      const [, body] = await client.request({ method: 'GET', url: path, qs });
      return body.map(({ email }: { readonly email: string }) => email);
    };
    const emails = [2, 1, 0].map((index) => `${reason}-${index}@list.test`);
    assert.deepEqual(await list({}), emails);
    assert.deepEqual(await list({ limit: 1, offset: 1 }), emails.slice(1, 2));
    const second = Date.parse(times[1] as string) / 1_000;
    assert.deepEqual(await list({ start_time: second, end_time: second }), emails.slice(1, 2));
    assert.deepEqual(await list({ end_time: second - 1 }), emails.slice(2));
    const one = `${path}/${encodeURIComponent(emails[1] as string)}`;
    const [, entry] = await client.request({ method: 'GET', url: one });
    const described = more[name as keyof typeof more];
    assert.deepEqual(entry, [{ created: second, email: emails[1], ...described }]);
    const [removed, nothing] = await client.request({ method: 'DELETE', url: one });
    assert.deepEqual([removed.statusCode, nothing], [204, '']);
    assert.deepEqual((await client.request({ method: 'GET', url: one }))[1], []);
    assert.equal((await errorsOf(client.request({ method: 'DELETE', url: one })))[0], 404);
    assert.deepEqual(await list({}), [emails[0], emails[2]]);
    for (const qs of [{ limit: 501 }, { offset: -1 }, { start_time: 'x' }, { page: 1 }]) {
      const [status, error] = await errorsOf(client.request({ method: 'GET', url: path, qs }));
      assert.deepEqual([status, error?.field], [400, Object.keys(qs)[0]]);
    }
  }
  const global = '/v3/asm/suppressions/global';
  const added = ['Test1@global.test', 'test2@global.test'];
  const [created, answer] = await client.request({
    method: 'POST',
    url: global,
    body: { recipient_emails: added },
  });
  assert.equal(created.statusCode, 201);
  assert.deepEqual(answer, { recipient_emails: ['test1@global.test', 'test2@global.test'] });
  const [, list] = await client.request({ method: 'GET', url: '/v3/suppression/unsubscribes' });
  assert.deepEqual(list.map(({ email }: { readonly email: string }) => email).sort(), [
    'test1@global.test',
    'test2@global.test',
  ]);
  const one = `${global}/test1@global.test`;
  const read = async () => (await client.request({ method: 'GET', url: one }))[1];
  assert.deepEqual(await read(), { recipient_email: 'test1@global.test' });
  const [status, error] = await errorsOf(sgMail.send(messageTo('test1@global.test')));
  assert.deepEqual([status, error?.field], [400, 'personalizations[0].to']);
  assert.equal((await client.request({ method: 'DELETE', url: one }))[0].statusCode, 204);
  assert.deepEqual(await read(), {});
  await sgMail.send(messageTo('test1@global.test'));
  for (const body of [{}, { recipient_emails: ['nobody'] }, { recipient_emails: 'a@b.test' }]) {
    const [refused, why] = await errorsOf(client.request({ method: 'POST', url: global, body }));
    assert.equal(refused, 400);
    assert.match(why?.field ?? '', /^recipient_emails/);
  }
  const { rows } = await database.pool.query(
    `select kind, count(*)::int from audit_event where kind like 'suppression%' group by kind order by kind`,
  );
  assert.deepEqual(rows, [
    { kind: 'suppression_created', count: 2 },
    { kind: 'suppression_removed', count: 4 },
  ]);
});

test('a suppressed personalization is left out and named; all suppressed are an error', async () => {
  const personalizations = [
    { to: [{ email: 'let@partial.test' }] },
    { to: [{ email: 'suppressed@simulator.test' }] },
  ];
  const url = '/v3/mail/send';
  const body = {
    personalizations,
    from: { email: from },
    subject: 'Some',
    content: [{ type: 'text/plain', value: 'Some' }],
  };
  const [response, answer]: [{ readonly statusCode: number }, { readonly errors: Errors }] =
    await client.request({ method: 'POST', url, body });
  assert.equal(response.statusCode, 202);
  const [error]: Errors = answer.errors;
  assert.equal(error?.field, 'personalizations[1].to');
  assert.match(error?.message ?? '', /^Personalizations\[1\]\.to is suppressed/);
  await mailTo('let@partial.test');
  const all = { ...body, personalizations: [personalizations[1], personalizations[1]] };
  const [status] = await errorsOf(client.request({ method: 'POST', url, body: all }));
  assert.equal(status, 400);
  const invalid = { ...body, from: { email: 'new@shop.test' } };
  assert.equal((await errorsOf(client.request({ method: 'POST', url, body: invalid })))[0], 403);
});

test('a quota that ends within a request is an error that says how many were sent', async () => {
  const id = await saveShop(database, { id: '46201', quota: { perHour: 2, perDay: undefined } });
  await addSender(database, id, from);
  const { client: limited } = sdkWith(await addKey(database, id));
  const body = {
    personalizations: [1, 2, 3].map((number) => ({ to: [{ email: `${number}@quota.test` }] })),
    from: { email: from },
    subject: 'Some',
    content: [{ type: 'text/plain', value: 'Some' }],
  };
  const [status, error] = await errorsOf(
    limited.request({ method: 'POST', url: '/v3/mail/send', body }),
  );
  assert.equal(status, 429);
  assert.match(error?.field ?? '', /^personalizations\[\d\]$/);
  assert.match(
    error?.message ?? '',
    / wasn’t sent, but 2 of 3 were: The account has reached its quota/,
  );
});

test('an Idempotency-Key sends each personalization once', async () => {
  const headers = { 'Idempotency-Key': 'welcome/123' };
  const body = {
    personalizations: [{ to: [{ email: 'a@once.test' }] }, { to: [{ email: 'b@once.test' }] }],
    from: { email: from },
    subject: 'Once',
    content: [{ type: 'text/plain', value: 'Once' }],
  };
  const send = (changed: object = {}) =>
    client.request({
      method: 'POST',
      url: '/v3/mail/send',
      headers,
      body: { ...body, ...changed },
    });
  const [first] = await send();
  const [second] = await send();
  assert.equal(second.headers['x-message-id'], first.headers['x-message-id']);
  await mailTo('a@once.test');
  await mailTo('b@once.test');
  assert.equal((await readInbox(service.url, '?to=a@once.test')).length, 1);
  const [status, error] = await errorsOf(send({ subject: 'Twice' }));
  assert.equal(status, 422);
  assert.match(error?.message ?? '', /^The idempotency key was used with another request/);
});

test('personalizations are bounded in number, size and depth', async () => {
  const send = (body: object) =>
    errorsOf(client.request({ method: 'POST', url: '/v3/mail/send', body }));
  const to = [{ email: 'x@sendgrid.test' }];
  const base = { from: { email: from }, subject: 'x' };
  const many = (count: number) => Array.from({ length: count }, () => ({ to }));
  const content = [{ type: 'text/html', value: 'x'.repeat(100_000) }];
  const large = await send({ ...base, content, personalizations: many(700) });
  assert.deepEqual([large[0], large[1]?.field], [400, 'personalizations']);
  assert.match(large[1]?.message ?? '', /need more than 64 MiB/);
  const small = [{ type: 'text/html', value: 'x' }];
  const count = await send({ ...base, content: small, personalizations: many(1_001) });
  assert.deepEqual([count[0], count[1]?.field], [400, 'personalizations']);
  let nested: unknown = 'x';
  for (let depth = 0; depth < 5_000; depth += 1) nested = [nested];
  const deep = { to, dynamic_template_data: { nested } };
  const [status, error] = await send({ ...base, template_id: 't-0001', personalizations: [deep] });
  assert.deepEqual([status, error?.field], [400, 'personalizations[0].dynamic_template_data']);
});

test('keys are checked as everywhere: missing, wrong, revoked, and without the permission', async () => {
  const send = (text: string) => errorsOf(sdkWith(text).sgMail.send(messageTo('x@sendgrid.test')));
  assert.equal((await send('SG.123'))[0], 401);
  const none = await sendRequest(`${url}/v3/mail/send`, { method: 'POST', body: '{' });
  assert.equal(none.status, 401);
  assert.deepEqual(none.body.errors, [
    { message: 'The request has no API key.', field: null, help: null },
  ]);
  const sender = await addKey(database, shop.id, { scopes: ['messages:send'] });
  assert.equal((await send(sender))[0], 403);
  const bound = sdkWith(sender).client;
  for (const [method, path] of [
    ['GET', '/v3/suppression/bounces'],
    ['POST', '/v3/user/scheduled_sends'],
  ] as const)
    assert.equal((await errorsOf(bound.request({ method, url: path })))[0], 403);
  const reader = sdkWith(await addKey(database, shop.id, { scopes: ['suppressions:read'] })).client;
  const path = '/v3/asm/suppressions/global';
  const body = { recipient_emails: ['a@b.test'] };
  assert.equal((await errorsOf(reader.request({ method: 'POST', url: path, body })))[0], 403);
  assert.deepEqual((await reader.request({ method: 'GET', url: `${path}/a@b.test` }))[1], {});
  const revoked = await addKey(database, shop.id, { scopes: dropIn.scopes });
  assert.equal((await errorsOf(sdkWith(revoked).sgMail.send(messageTo('nobody'))))[0], 400);
  const { rows } = await database.pool.query('select id from api_key order by id desc limit 1');
  assert.equal(await removeApiKey(database.kysely, shop.id, rows[0]?.id), true);
  await waitFor('the key to be gone', async () => {
    const [status] = await errorsOf(sdkWith(revoked).sgMail.send(messageTo('nobody')));
    return status === 401;
  });
  const foreign = sdkWith(await addKey(database, await saveShop(database, { id: '46200' })));
  assert.equal((await errorsOf(foreign.sgMail.send(messageTo('x@sendgrid.test'))))[0], 403);
  const [, mine] = await client.request({ method: 'POST', url: '/v3/mail/batch' });
  const cancel = { batch_id: mine.batch_id, status: 'cancel' };
  const canceling = { method: 'POST', url: '/v3/user/scheduled_sends', body: cancel } as const;
  assert.equal((await errorsOf(foreign.client.request(canceling)))[0], 400);
});

test('malformed and oversized bodies, and unknown members, are refused in SendGrid’s form', async () => {
  const post = async (body: string) => {
    const { status, body: answer } = await sendRequest(`${url}/v3/mail/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    return [status, (answer.errors as Errors)[0]?.message];
  };
  assert.deepEqual(await post('{'), [400, 'The body is not valid JSON.']);
  assert.deepEqual(await post('[]'), [400, 'Must be an object.']);
  const large = JSON.stringify({ subject: 'x'.repeat(300_000) });
  assert.match(String((await post(large))[1]), /larger than 256 KiB/);
  const unknown = JSON.stringify({ personalizations: [{ to: [], tags: 1 }], priority: 1 });
  assert.deepEqual(await post(unknown), [400, 'Priority isn’t known to Signalpost; remove it.']);
  const inside = JSON.stringify({ personalizations: [{ to: [], tags: 1 }] });
  assert.match(String((await post(inside))[1]), /^Personalizations\[0\]\.tags isn’t known/);
});

test('each other call of the SDK’s documentation is answered in SendGrid’s form, naming it', async () => {
  for (const [method, path] of [
    ['GET', '/v3/api_keys'],
    ['GET', '/v3/user/scheduled_sends'],
    ['GET', '/v3/user/scheduled_sends/1'],
    ['PATCH', '/v3/user/scheduled_sends/1'],
    ['DELETE', '/v3/user/scheduled_sends/1'],
    ['GET', '/v3/mail/batch/1'],
    ['GET', '/v3/suppression/invalid_emails'],
    ['DELETE', '/v3/suppression/bounces'],
    ['GET', '/v3/asm/groups'],
    ['GET', '/v3/asm/suppressions'],
    ['GET', '/v3/templates'],
    ['GET', '/v3/stats'],
    ['GET', '/v3/messages'],
    ['POST', '/v3/marketing/contacts'],
    ['GET', '/v3/whitelabel/domains'],
  ] as const) {
    const [status, error] = await errorsOf(client.request({ method, url: path }));
    assert.equal(status, 404);
    assert.equal(error?.message, `${method} ${path} isn’t supported by Signalpost.`);
  }
});
