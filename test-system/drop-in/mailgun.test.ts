import assert from 'node:assert/strict';
import { test } from 'node:test';
import Mailgun from 'mailgun.js';
import type { Interfaces, MailgunMessageData } from 'mailgun.js/definitions';
import { removeApiKey } from '../../src/accounts/access/api-key-store.ts';
import { mailgun as dropIn } from '../../src/drop-in/mailgun/mailgun.ts';
import { addKey, addSigningKey } from '../../test/support/api-key.ts';
import { type CapturedMail, readInbox } from '../../test/support/inbox-client.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { addSender } from '../../test/support/shop.ts';
import { testKey } from '../../test/support/test-service.ts';
import { openTestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, service, shop } = await openTestShop();
await addSender(database, shop.id, 'mailgun@shop.test', { displayNames: ['*'] });
await addSender(database, shop.id, 'help@shop.test');
await addSender(database, shop.id, 'sales@shop.test');
const key = await addKey(database, shop.id, { scopes: dropIn.scopes });
const url = `${service.url}/mailgun`;

function clientWith(text: string, useFetch = false): Interfaces.IMailgunClient {
  return new Mailgun(FormData).client({ username: 'api', key: text, url, useFetch });
}

const mg = clientWith(key);
/** Mailgun's domain is often another one than that of From. */
const domain = 'mg.shop.test';
const from = 'Excited User <mailgun@shop.test>';

async function mailTo(address: string): Promise<CapturedMail> {
  const [mail] = await readInbox(service.url, `?to=${address}&wait=60`);
  assert.ok(mail, address);
  return mail;
}

async function readMailTo(address: string) {
  const { source } = await mailTo(address);
  return { ...readSentMail(source), source };
}

interface SdkError {
  readonly status: number;
  readonly details: string;
}

async function refusalOf(call: Promise<unknown>): Promise<readonly [number, string]> {
  try {
    await call;
  } catch (error) {
    const { status, details } = error as SdkError;
    return [status, details];
  }
  return assert.fail('the call was answered');
}

const send = (data: object) => mg.messages.create(domain, data as MailgunMessageData);

test('messages.create sends what was asked, part by part', async () => {
  const pdf = Buffer.from('%PDF-1.7\nInvoice\r\n--\r\n and more');
  const picture = Buffer.from('\x89PNG\r\n\x1a\n and a picture\0', 'latin1');
  const sent = await send({
    from: 'Ünï Cödé <mailgun@shop.test>',
    to: ['ada@mg.test', 'Bob <bob@mg.test>, "Cox, Carl" <carl@mg.test>'],
    cc: 'cc@mg.test',
    bcc: ['bcc@mg.test'],
    subject: 'It {{works}} – %recipient.title%',
    text: 'Testing some Mailgun äwesomness!',
    html: '<h1>Testing</h1><img alt="image" src="cid:test.png"/>',
    attachment: [{ filename: 'tëst-rename.pdf', data: pdf }],
    inline: { filename: 'test.png', data: picture },
    'h:Reply-To': 'help@shop.test, Sales <sales@shop.test>',
    'h:X-My-Header': '123',
    'v:my-var': 'my value',
    'h:X-Mailgun-Variables': JSON.stringify({ order: 1001 }),
    'o:tag': ['welcome', 'trial'],
    'o:dkim': true,
    'o:tracking': false,
  });
  assert.equal(sent.status, 200);
  assert.equal(sent.message, 'Queued. Thank you.');
  for (const address of ['ada', 'bob', 'carl', 'cc', 'bcc']) {
    const mail = await readMailTo(`${address}@mg.test`);
    assert.equal(mail.decoded('from'), 'Ünï Cödé <mailgun@shop.test>');
    assert.deepEqual(
      mail.mailboxes('to').map(({ address: one, name }) => [one, name]),
      [
        ['ada@mg.test', ''],
        ['bob@mg.test', 'Bob'],
        ['carl@mg.test', 'Cox, Carl'],
      ],
    );
    assert.equal(mail.decoded('cc'), 'cc@mg.test');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test, Sales <sales@shop.test>');
    assert.equal(mail.subject, 'It {{works}} – %recipient.title%');
    assert.equal(mail.text?.trimEnd(), 'Testing some Mailgun äwesomness!');
    assert.equal(mail.html?.trimEnd(), '<h1>Testing</h1><img alt="image" src="cid:test.png"/>');
    assert.equal(mail.fields.get('x-my-header'), '123');
    assert.deepEqual(
      mail.files.map(({ filename, type, contentId, content }) => [
        filename,
        type,
        contentId,
        content,
      ]),
      [
        ['test.png', 'image/png', 'test.png', picture],
        ['tëst-rename.pdf', 'application/pdf', undefined, pdf],
      ],
    );
    assert.doesNotMatch(mail.source, /bcc@mg/);
  }
  assert.match(sent.id ?? '', /^<[0-9a-f-]{36}@shop\.test>$/);
  const { rows } = await database.pool.query(
    `select content -> 'attributes' as attributes, tag from message
     where account_id = $1 and id = $2`,
    [shop.id, sent.id?.slice(1, 37)],
  );
  assert.equal(rows[0].tag, 'welcome');
  assert.deepEqual(rows[0].attributes, { 'my-var': 'my value', order: '1001', 'tag-2': 'trial' });
});

test('the client with fetch, and a form without files in percent encoding', async () => {
  const text = 'a & b = c+d %20';
  await clientWith(key, true).messages.create(domain, {
    from,
    to: 'fetch@mg.test',
    subject: 'F',
    text,
  });
  assert.equal((await readMailTo('fetch@mg.test')).text?.trimEnd(), text);
  const { status, body } = await sendRequest(`${url}/v3/${domain}/messages`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`api:${key}`)}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ from, to: 'encoded@mg.test', subject: 'Ü', text }).toString(),
  });
  assert.deepEqual([status, body.message], [200, 'Queued. Thank you.']);
  const mail = await readMailTo('encoded@mg.test');
  assert.deepEqual([mail.subject, mail.text?.trimEnd()], ['Ü', text]);
});

test('a template is sent by its name with its variables', async () => {
  const variables = JSON.stringify({ 'Order Number': 1001, 'First Name': 'Ada' });
  for (const [name, to] of [
    ['h:X-Mailgun-Variables', 'header@mg.test'],
    ['t:variables', 'variables@mg.test'],
  ] as const) {
    await send({
      from: 'Demo Shop <orders@shop.test>',
      to: `Ada <${to}>`,
      // As `signalpost import` writes it: in lower case, with hyphens.
      template: 'T 0001',
      [name]: variables,
      'h:Reply-To': 'help@shop.test',
      attachment: { filename: 'note.txt', data: Buffer.from('a note') },
    });
    const mail = await readMailTo(to);
    assert.equal(mail.subject, 'Your order 1001');
    assert.match(mail.html ?? '', /Hello Ada, your order is 1001/);
    assert.equal(mail.decoded('to'), `Ada <${to}>`);
    assert.equal(mail.decoded('reply-to'), 'help@shop.test');
    assert.deepEqual(
      mail.files.map(({ filename, content }) => [filename, content.toString()]),
      [['note.txt', 'a note']],
    );
  }
  const incomplete = await refusalOf(
    send({ from: 'orders@shop.test', to: 'x@mg.test', template: 't-0001' }),
  );
  assert.equal(incomplete[0], 400);
  assert.match(incomplete[1], /^T:variables\.Order Number has no value/);
  const unknown = send({ from: 'orders@shop.test', to: 'x@mg.test', template: 'no' });
  assert.equal((await refusalOf(unknown))[0], 404);
});

test('recipient variables make a message for each recipient, who sees no other', async () => {
  const sent = await send({
    from: 'Example.com Mailer <mailgun@shop.test>',
    to: ['me@batch.test', 'You <you@batch.test>'],
    subject: 'Recipient - %recipient.title%',
    html: 'Here’s %recipient.title% and <a href="%recipient.link%">link</a>',
    text: 'For %recipient%',
    'v:title': '%recipient.title%',
    'recipient-variables': JSON.stringify({
      'me@batch.test': { title: 'Me', link: 'href-var', id: 1 },
      'You@batch.test': { title: 'You', link: 'slug-recipient-var-c' },
    }),
  });
  assert.equal(sent.message, 'Queued. Thank you.');
  for (const [address, title, link, to] of [
    ['me@batch.test', 'Me', 'href-var', 'me@batch.test'],
    ['you@batch.test', 'You', 'slug-recipient-var-c', 'You <you@batch.test>'],
  ] as const) {
    const mail = await readMailTo(address);
    assert.equal(mail.subject, `Recipient - ${title}`);
    assert.equal(mail.html?.trimEnd(), `Here’s ${title} and <a href="${link}">link</a>`);
    assert.equal(mail.text?.trimEnd(), `For ${address}`);
    assert.equal(mail.decoded('to'), to);
  }
  const { rows } = await database.pool.query(
    `select content ->> 'to' as "to", content -> 'attributes' ->> 'title' as title
     from message where account_id = $1 and id = $2`,
    [shop.id, sent.id?.slice(1, 37)],
  );
  assert.deepEqual(rows, [{ to: 'me@batch.test', title: 'Me' }]);
});

test('a batch with a template fills its values for each', async () => {
  await send({
    from: 'orders@shop.test',
    to: 'one@filled.test, two@filled.test',
    template: 't-0001',
    't:variables': JSON.stringify({
      'Order Number': '%recipient.order%',
      'First Name': '%recipient.name%',
    }),
    'recipient-variables': JSON.stringify({
      'one@filled.test': { order: 1, name: 'One' },
      'two@filled.test': { order: 2, name: 'Two' },
    }),
  });
  assert.match((await readMailTo('one@filled.test')).html ?? '', /Hello One, your order is 1/);
  assert.match((await readMailTo('two@filled.test')).html ?? '', /Hello Two, your order is 2/);
});

test('a batch that can’t be sent to one sends to none, and names whom a suppression keeps out', async () => {
  const batch = { from, subject: '%recipient.n%', text: 'n', to: ['a@none.test', 'b@none.test'] };
  const missing = await refusalOf(
    send({ ...batch, 'recipient-variables': JSON.stringify({ 'a@none.test': { n: 1 } }) }),
  );
  assert.deepEqual(missing, [400, 'Recipient-variables.b@none.test.n has no value.']);
  assert.deepEqual(await readInbox(service.url, '?to=a@none.test'), []);
  const sent = await send({
    from,
    subject: 'S',
    text: 'S',
    to: ['suppressed@simulator.test', 'c@none.test'],
    'recipient-variables': '{}',
  });
  assert.equal(
    sent.message,
    'Queued. Thank you. Not sent to 1 of 2 recipients. suppressed@simulator.test: To is suppressed for this account.',
  );
  await mailTo('c@none.test');
});

test('o:testmode delivers to the account’s inbox only, whoever the sender is', async () => {
  const sent = await send({
    from: 'anyone@elsewhere.test',
    to: 'test@mg.test',
    subject: 'T',
    text: 'T',
    'o:testmode': true,
  });
  const { rows } = await database.pool.query(
    `select retention_days from message where account_id = $1 and id = $2`,
    [shop.id, sent.id?.slice(1, 37)],
  );
  assert.equal(rows.length, 1);
  const live = await refusalOf(
    send({ from: 'anyone@elsewhere.test', to: 'test@mg.test', subject: 'T', text: 'T' }),
  );
  assert.deepEqual(live, [403, 'From is not a verified sender of this account.']);
});

test('o:deliverytime schedules, and o:tracking tracks', async () => {
  const time = new Date(Date.now() + 3_600_000);
  const sent = await send({
    from,
    to: 'later@mg.test',
    subject: 'L',
    html: '<p>L <a href="https://shop.test/">link</a></p>',
    'o:deliverytime': time.toUTCString(),
    'o:tracking': 'yes',
    'o:tracking-opens': 'no',
    'o:tracking-clicks': 'htmlonly',
  });
  const { rows } = await database.pool.query(
    `select content ->> 'sendAt' as "sendAt", track_opens as opens, track_clicks as clicks
     from message where account_id = $1 and id = $2`,
    [shop.id, sent.id?.slice(1, 37)],
  );
  time.setMilliseconds(0);
  assert.equal(rows[0].sendAt, time.toISOString());
  assert.deepEqual([rows[0].opens, rows[0].clicks], [false, true]);
});

test('templates are listed and read', async () => {
  const { domainTemplates } = mg.domains;
  const { items, pages } = await domainTemplates.list(domain, { limit: 1 });
  assert.deepEqual([items.length, items[0]?.name], [1, 't-0001']);
  assert.ok((items[0]?.createdAt as Date) > new Date(0));
  const next = await domainTemplates.list(domain, {
    limit: 1,
    page: pages.next?.page as `?${string}`,
  });
  assert.deepEqual(next.items, []);
  const template = await domainTemplates.get(domain, 'T 0001', { active: 'yes' as never });
  assert.equal(template.name, 't-0001');
  assert.match(template.version?.template ?? '', /Hello \{\{First Name\}\}/);
  assert.deepEqual([template.version?.tag, template.version?.active], ['1', true]);
  assert.equal((await domainTemplates.get(domain, 't-0001')).version, undefined);
  assert.deepEqual(template.version?.headers, { Subject: 'Your order {{Order Number}}' });
  assert.deepEqual(await refusalOf(domainTemplates.get(domain, 'none')), [
    404,
    'template not found',
  ]);
});

for (const [type, reason, facts, removed] of [
  ['bounces', 'hard_bounce', { code: 550, error: '' }, 'Bounced address has been removed'],
  ['unsubscribes', 'unsubscribe', { tags: ['*'] }, 'Unsubscribe event has been removed'],
  ['complaints', 'complaint', {}, 'Spam complaint has been removed'],
] as const)
  test(`suppressions: ${type} are added, listed by pages, read and removed`, async () => {
    const { suppressions } = mg;
    const one = await suppressions.create(domain, type, { address: `Bob@${type}.test` });
    assert.equal(one.message, `1 address has been added to the ${type} table`);
    const more = ['one', 'two', 'three'].map((name) => ({ address: `${name}@${type}.test` }));
    const three = await suppressions.create(domain, type, more);
    assert.equal(three.message, `3 addresses have been added to the ${type} table`);
    const found = await suppressions.get(domain, type, `bob@${type}.test`);
    const {
      address,
      created_at: createdAt,
      ...others
    } = found as unknown as {
      address: string;
      created_at: Date;
    };
    assert.equal(address, `bob@${type}.test`);
    assert.deepEqual(others, { type, ...facts });
    assert.ok(createdAt > new Date(Date.now() - 3_600_000));
    const seen: string[] = [];
    let page: string | undefined;
    for (;;) {
      const list = await suppressions.list(domain, type, { limit: 3, ...(page && { page }) });
      if (list.items.length === 0) break;
      seen.push(...list.items.map((item) => (item as unknown as { address: string }).address));
      page = list.pages.next?.page;
    }
    assert.deepEqual(
      seen.toSorted(),
      ['bob', 'one', 'three', 'two'].map((name) => `${name}@${type}.test`),
    );
    const { rows } = await database.pool.query(
      `select distinct reason from suppression where account_id = $1 and address like $2`,
      [shop.id, `%@${type}.test`],
    );
    assert.deepEqual(rows, [{ reason }]);
    const suppressed = send({ from, to: `bob@${type}.test`, subject: 'S', text: 'S' });
    assert.equal((await refusalOf(suppressed))[1], 'To is suppressed for this account.');
    const gone = await suppressions.destroy(domain, type, `bob@${type}.test`);
    assert.deepEqual([gone.message, gone.address], [removed, `bob@${type}.test`]);
    for (const call of ['get', 'destroy'] as const)
      assert.deepEqual(await refusalOf(suppressions[call](domain, type, `bob@${type}.test`)), [
        404,
        `Address not found in ${type} table`,
      ]);
  });

test('suppressions that can’t be kept as asked are refused by name', async () => {
  const { suppressions } = mg;
  for (const [type, data, message] of [
    ['bounces', [{ address: 'nobody' }], /^\[0\]\.address is not an email address/],
    ['bounces', [{ address: 'a@b.test', code: 421 }], /^\[0\]\.code must be/],
    ['unsubscribes', { address: 'a@b.test', tag: 'news' }, /^Tag must be/],
    ['unsubscribes', [{ address: 'a@b.test', tags: ['news'] }], /^\[0\]\.tags\.0 must be/],
    ['complaints', [{ address: 'a@b.test', created_at: 'now' }], /^\[0\]\.created_at isn’t/],
  ] as const) {
    const [status, details] = await refusalOf(suppressions.create(domain, type, data as never));
    assert.equal(status, 400);
    assert.match(details, message);
  }
  for (const [query, message] of [
    [{ limit: 1_001 }, /^Limit must be/],
    [{ page: '?page=previous' }, /^Page can be first or next/],
    [{ page: '?page=next&address=a@b.test&at=9999999999999.1' }, /^At is not/],
    [{ page: '?term=a' }, /^Term isn’t known/],
  ] as const)
    assert.match((await refusalOf(suppressions.list(domain, 'bounces', query)))[1], message);
});

const data = Buffer.from('MZ');
const refusals: readonly (readonly [what: string, members: object, message: RegExp])[] = [
  ['no sender', { from: undefined }, /^From is required\.$/],
  ['a malformed sender', { from: 'Acme' }, /^From is not an address/],
  ['a sender that isn’t verified', { from: 'a@other.test' }, /^From is not a verified sender/],
  ['a malformed recipient', { to: ['a@b.test', 'nobody'] }, /^To\[1\] is not an address/],
  ['no recipient', { to: ',' }, /^To is required\.$/],
  [
    'too many recipients',
    { to: Array.from({ length: 151 }, (_, at) => `n${at}@b.test`) },
    /^To, cc and bcc has more than 150 recipients/,
  ],
  ['no subject', { subject: undefined }, /^Subject is required\.$/],
  ['neither HTML nor text', { text: undefined }, /^Html or text needs html, text or both/],
  ['AMP', { 'amp-html': '<html amp4email>' }, /^Amp-html isn’t supported/],
  ['an IP address', { 'o:sending-ip': '192.0.2.1' }, /^O:sending-ip isn’t supported/],
  ['a campaign', { 'o:campaign': 'a' }, /^O:campaign isn’t supported; use `o:tag`/],
  ['no signature', { 'o:dkim': 'no' }, /^O:dkim must be/],
  ['required TLS', { 'o:require-tls': true }, /^O:require-tls must be/],
  ['an hour', { 'o:time-zone-localize': '09:00' }, /^O:time-zone-localize isn’t supported/],
  ['an odd time', { 'o:deliverytime': 'tomorrow' }, /^O:deliverytime must be a time/],
  ['a version', { template: 't-0001', 't:version': 'a' }, /^T:version isn’t supported/],
  ['variables without a template', { 't:variables': '{}' }, /^T:variables needs template/],
  ['variables that aren’t JSON', { 'recipient-variables': '[' }, /^Recipient-variables must be/],
  ['content beside a template', { template: 't-0001' }, /^Text can’t be used with template/],
  [
    'a link that can’t be filled',
    { html: '<a href="%unsubscribe_url%">x</a>' },
    /^Html has %unsubscribe_url%/,
  ],
  [
    'a header of the service',
    { 'h:List-Unsubscribe': '<https://a.test>' },
    /^H:List-Unsubscribe is set by the service/,
  ],
  ['a reply address that isn’t verified', { 'h:Reply-To': 'a@other.test' }, /^H:Reply-To is not/],
  ['a long variable', { [`v:${'a'.repeat(41)}`]: 'b' }, /^V:/],
  ['a program', { attachment: { filename: 'run.exe', data } }, /^Attachment\[0\] /],
  ['a copy beside variables', { cc: 'a@b.test', 'recipient-variables': '{}' }, /^Cc can’t be used/],
  ['a suppressed recipient', { to: 'suppressed@simulator.test' }, /^To is suppressed/],
  ['something unknown', { priority: 'high' }, /^Priority isn’t known to Signalpost; remove it\.$/],
  ['two senders', { from: [from, from] }, /^From is given more than once/],
];

for (const [what, members, pattern] of refusals)
  test(`an email with ${what} is refused in Mailgun’s form, naming it`, async () => {
    const email = { from, to: 'x@mg.test', subject: 'No', text: 'No', ...members };
    const defined = Object.entries(email).filter(([, value]) => value !== undefined);
    const [status, message] = await refusalOf(send(Object.fromEntries(defined)));
    assert.match(message, pattern);
    assert.ok(status === 400 || status === 403, String(status));
  });

test('a batch can’t multiply what one request has', async () => {
  const to = Array.from({ length: 1_000 }, (_, at) => `n${at}@many.test`);
  const many = { from, to, subject: 'S', text: 'x'.repeat(80_000), 'recipient-variables': '{}' };
  const [status, message] = await refusalOf(send(many));
  assert.deepEqual(
    [status, message],
    [
      400,
      'Recipient-variables makes more than 64 MiB of messages, or one of more than 1 MiB; send several requests.',
    ],
  );
  const large = {
    from,
    to: 'one@many.test',
    subject: 'S',
    text: '%recipient.a%'.repeat(10_000),
    'recipient-variables': JSON.stringify({ 'one@many.test': { a: 'x'.repeat(500_000) } }),
  };
  assert.deepEqual(await refusalOf(send(large)), [status, message]);
});

function post(body: string | Buffer, type: string, credential = `api:${key}`) {
  return sendRequest(`${url}/v3/${domain}/messages`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(credential)}`, 'content-type': type },
    body,
  });
}

test('malformed and oversized forms are refused', async () => {
  const type = 'multipart/form-data; boundary=b';
  const part = (head: string, body = 'x') => `--b\r\n${head}\r\n\r\n${body}\r\n`;
  const field = (name: string, body?: string) =>
    part(`Content-Disposition: form-data; name="${name}"`, body);
  for (const [body, contentType, message] of [
    ['{}', 'application/json', /^The Content-Type must be multipart\/form-data/],
    ['', 'multipart/form-data', /^The Content-Type must be multipart\/form-data/],
    ['', type, /^The form doesn’t begin with its boundary/],
    ['--b', type, /^The form has no end/],
    [field('to'), type, /^The form has no end/],
    [`${field('to')}--bc--`, type, /^The form has no end/],
    [`${part('Content-Type: text/plain')}--b--`, type, /^The form has a part without a name/],
    ['--b\r\n--b--', type, /^The form has a part without fields/],
    [
      `${part(`Content-Disposition: form-data; name="to"\r\nX: ${'x'.repeat(263_000)}`)}--b--`,
      type,
      /^The form has a part without fields, or with too many/,
    ],
    [
      `${part(`Content-Disposition: form-data; name="to"\r\nX: ${'x'.repeat(1_000)}`).repeat(300)}--b--`,
      type,
      /^The form has more than 256 KiB of fields of parts/,
    ],
    [
      `${part('Content-Disposition: form-data; name="to"\r\nContent-Transfer-Encoding: base64')}--b--`,
      type,
      /can’t have the encoding base64/,
    ],
    [`${field('to').repeat(1_201)}--b--`, type, /^The form has more than 1200 values/],
    [`${field('text', 'x'.repeat(1_048_577))}--b--`, type, /more than 1 MiB of text/],
    [Buffer.from(`${field('to', 'ü')}--b--`, 'latin1'), type, /not valid UTF-8/],
    ['text=%ff', 'application/x-www-form-urlencoded', /not valid UTF-8/],
    ['to=a&'.repeat(1_300), 'application/x-www-form-urlencoded', /more than 1200 values/],
    [`text=${'x'.repeat(1_048_577)}`, 'application/x-www-form-urlencoded', /larger than 1 MiB/],
    [`${field('attachment')}--b--`, type, /^Attachment\.0 must be an object/],
    [`${field('__proto__')}--b--`, type, /^__proto__ isn’t known to Signalpost/],
  ] as const) {
    const { status, body: answer } = await post(body, contentType);
    assert.equal(status, 400, String(body).slice(0, 100));
    assert.match(String(answer.message), message);
  }
  const nested = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
  const deep = send({ from, to: 'x@mg.test', template: 't-0001', 't:variables': nested });
  assert.match((await refusalOf(deep))[1], /^T:variables is nested deeper than 10 levels/);
});

test('a file of 4 MiB arrives as it is', async () => {
  const file = Buffer.alloc(4 * 1_024 * 1_024, '\r\n--');
  const sent = await send({
    from,
    to: 'large@mg.test',
    subject: 'L',
    text: 'L',
    attachment: { filename: 'a.bin', data: file },
  });
  assert.equal(sent.status, 200);
  const mail = await readMailTo('large@mg.test');
  assert.ok(mail.files[0]?.content.equals(file));
});

test('keys are checked as everywhere: missing, wrong, and without the permission', async () => {
  const email = { from, to: 'x@mg.test', subject: 'x', text: 'x' };
  const none = await sendRequest(`${url}/v3/${domain}/messages`, { method: 'POST', body: '{' });
  assert.deepEqual([none.status, none.body], [401, { message: 'The request has no API key.' }]);
  const wrong = await refusalOf(clientWith('key-1').messages.create(domain, email));
  assert.equal(wrong[0], 401);
  const named = await post('', 'multipart/form-data', `someone:${key}`);
  assert.equal(named.status, 401);
  const expired = await addKey(database, shop.id, { expiresAt: new Date(Date.now() - 1_000) });
  assert.equal((await refusalOf(clientWith(expired).messages.create(domain, email)))[0], 401);
  const sender = clientWith(await addKey(database, shop.id, { scopes: ['messages:send'] }));
  assert.equal((await refusalOf(sender.messages.create(domain, email)))[0], 403);
  const batch = { ...email, 'recipient-variables': '{}' };
  assert.equal((await refusalOf(sender.messages.create(domain, batch)))[0], 403);
  const tested = { ...email, 'o:testmode': true };
  assert.equal((await refusalOf(sender.messages.create(domain, tested)))[0], 403);
  assert.equal((await refusalOf(sender.suppressions.list(domain, 'bounces')))[0], 403);
  assert.equal((await refusalOf(sender.domains.domainTemplates.list(domain)))[0], 403);
  const viewer = clientWith(await addKey(database, shop.id, { scopes: ['suppressions:read'] }));
  await viewer.suppressions.list(domain, 'bounces');
  const bounce = { address: 'a@b.test' };
  for (const change of [
    () => viewer.suppressions.create(domain, 'bounces', bounce),
    () => viewer.suppressions.destroy(domain, 'bounces', 'one@bounces.test'),
  ])
    assert.equal((await refusalOf(change()))[0], 403);
});

test('a revoked key ends, and another account’s can’t see or change anything of this one', async () => {
  const email = { from, to: 'x@mg.test', subject: 'x', text: 'x' };
  const revoked = await addSigningKey(database, testKey, shop.id);
  const { suppressions } = clientWith(revoked.text);
  await suppressions.list(domain, 'bounces');
  await removeApiKey(database.kysely, shop.id, revoked.id);
  await waitFor(
    'the key to end',
    async () =>
      (await suppressions.list(domain, 'bounces').then(
        () => 200,
        ({ status }: SdkError) => status,
      )) === 401,
    1_000,
  );
  await database.pool.query("insert into account (id, name) values ('46199', 'Other')");
  const theirs = clientWith(await addKey(database, '46199' as typeof shop.id));
  await mg.suppressions.create(domain, 'bounces', { address: 'mine@bounces.test' });
  for (const call of [
    () => theirs.suppressions.get(domain, 'bounces', 'mine@bounces.test'),
    () => theirs.suppressions.destroy(domain, 'bounces', 'mine@bounces.test'),
    () => theirs.domains.domainTemplates.get(domain, 't-0001'),
  ])
    assert.equal((await refusalOf(call()))[0], 404);
  assert.deepEqual((await theirs.suppressions.list(domain, 'bounces')).items, []);
  assert.deepEqual((await theirs.domains.domainTemplates.list(domain)).items, []);
  const foreign = await refusalOf(theirs.messages.create(domain, email));
  assert.deepEqual(foreign, [403, 'From is not a verified sender of this account.']);
});

type Call = (...given: readonly unknown[]) => unknown;

const file = { filename: 'a.csv', data: Buffer.from('address\na@b.test') };

/** What the SDK refuses to send otherwise. */
const ownArguments: Readonly<Record<string, readonly unknown[]>> = {
  'domains.updateConnection': [domain, { require_tls: true }],
  'ip_pools.destroy': ['a', { ip: '192.0.2.1' }],
  'ip_pools.removeIpFromDomainPool': [domain, '192.0.2.1'],
  'lists.list': [{}],
  'logs.list': [{ start: new Date(), include_subaccounts: false }],
  'subaccounts.updateSubaccountFeature': ['a', { sending: true }],
  'inboxPlacements.seedsLists.update': ['a', { name: 'b' }],
  'accountManagement.updateAccountSettings': [{ name: 'a' }],
  'accountManagement.updateAccountFeature': [{ ai_insights: { enabled: true } }],
  'validate.multipleValidation.create': ['a', { file: file.data }],
  'suppressions.createWhiteList': [domain, { address: 'a@b.test' }, false],
  'suppressions.list': [domain, 'whitelists'],
  'suppressions.get': [domain, 'whitelists', 'a@b.test'],
  'suppressions.create': [domain, 'whitelists', { address: 'a@b.test' }],
  'suppressions.destroy': [domain, 'whitelists', 'a@b.test'],
  'suppressions.destroyAll': [domain, 'bounces'],
  'suppressions.upload': [domain, 'bounces', file],
};

const answered = [
  'messages.create',
  'suppressions.createUnsubscribe',
  'domains.domainTemplates.list',
  'domains.domainTemplates.get',
  // It calls a host of Mailgun.
  'messages.clearMessagesQueue',
];

const isHelper =
  /^(?:parse|prepare|_|constructor$|convert|is|updateUrl|requestList|validateQuery|handle|getModel|checkAnd|(?:re)?setSub)/;
const helpers = ['request', 'logger', 'attachmentsHandler', 'allowedKeysAF', 'models'];

/** The methods of a client, and of the clients that are its members. */
function* callsOf(client: object, place = ''): Generator<readonly [name: string, call: Call]> {
  const names = new Set<string>();
  for (let at = client; at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  for (const name of names) {
    const member: unknown = Reflect.get(client, name);
    if (typeof member === 'function' && !isHelper.test(name))
      yield [place + name, member.bind(client)];
    if (typeof member === 'object' && member !== null && !helpers.includes(name))
      if (member.constructor !== Object) yield* callsOf(member, `${place}${name}.`);
  }
}

test('each other call of the SDK is answered in Mailgun’s form, naming it', async () => {
  let count = 0;
  for (const [name, call] of callsOf(mg)) {
    if (answered.includes(name)) continue;
    const given = ownArguments[name] ?? [domain, 'a', 'b', 'c'];
    const refusal = (async () => call(...given))();
    const [status, message] = await refusalOf(refusal);
    assert.equal(status, 404, name);
    assert.match(message, /^[A-Z]{3,6} \/v\d\/\S+ isn’t supported by Signalpost\.$/, name);
    count += 1;
  }
  assert.ok(count > 130, String(count));
  assert.deepEqual(await refusalOf(send({ to: 'x@mg.test', message: `From: ${from}\n\nx` })), [
    404,
    `POST /v3/${domain}/messages.mime isn’t supported by Signalpost.`,
  ]);
  assert.deepEqual(await refusalOf(mg.suppressions.destroyAll(domain, 'bounces')), [
    404,
    `DELETE /v3/${domain}/bounces isn’t supported by Signalpost.`,
  ]);
});
