import assert from 'node:assert/strict';
import { test } from 'node:test';
import Mailgun from 'mailgun.js';
import type { Interfaces, MailgunMessageData } from 'mailgun.js/definitions';
import { mailgun as dropIn } from '../../src/drop-in/mailgun/mailgun.ts';
import { addKey } from '../../test/support/api-key.ts';
import { type CapturedMail, readInbox } from '../../test/support/inbox-client.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { addSender } from '../../test/support/shop.ts';
import { openTestShop } from '../../test/support/test-shop.ts';

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

test('messages.create sends a complete message', async () => {
  const message = [
    'From: "Excited User" <mailgun@shop.test>',
    'To: Mime <mime@mg.test>',
    'Bcc: hidden@mg.test',
    'Subject: =?utf-8?q?H=C3=A9llo?=',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'As it is: ü',
    '',
  ].join('\n');
  const sent = await send({
    from,
    to: ['mime@mg.test', 'other@mg.test'],
    subject: 'Héllo',
    message,
    'o:tag': 'mime',
    'v:order': 'A-1',
  });
  assert.equal(sent.message, 'Queued. Thank you.');
  for (const address of ['mime@mg.test', 'other@mg.test']) {
    const mail = await readMailTo(address);
    assert.equal(mail.subject, 'Héllo');
    assert.equal(mail.decoded('to'), 'Mime <mime@mg.test>');
    assert.equal(mail.text?.trimEnd(), 'As it is: ü');
    assert.equal(mail.fields.get('bcc'), undefined);
  }
  const other = await refusalOf(send({ from, to: 'x@mg.test', subject: 'Hello', message }));
  assert.deepEqual(other, [400, 'Subject must be the message’s subject.']);
  const copied = await refusalOf(send({ to: 'x@mg.test', message, cc: 'y@mg.test' }));
  assert.match(copied[1], /^Cc isn’t supported here; give all recipients in `to`/);
  const foreign = message.replace('mailgun@shop.test', 'stranger@elsewhere.test');
  assert.equal((await refusalOf(send({ to: 'x@mg.test', message: foreign })))[0], 403);
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
