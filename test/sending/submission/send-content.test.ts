import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId, TemplateId } from '../../../src/base/values/ids.ts';
import { addKey } from '../../support/api-key.ts';
import { type CapturedMail, readInbox } from '../../support/inbox-client.ts';
import { readSentMail } from '../../support/read-mail.ts';
import { SendClient, type SendOptions } from '../../support/send-client.ts';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import { addSender, saveShop } from '../../support/shop.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, shop, token } = await openSharedShop();
const key = await addKey(database, shop.id, { scopes: ['messages:send-content'] });

type Groups = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A body that passes every check, with some members of its groups replaced. */
function content(changes: Groups = {}): Record<string, unknown> {
  const body: Record<string, Record<string, unknown>> = {
    envelope: { toAddress: 'ada@people.test', fromAddress: 'orders@shop.test' },
    content: {
      subjectLine: 'Order {{Order Number}}',
      html: '<p>Your order is {{Order Number}}.</p>',
      personalizationDataMap: { 'Order Number': 'A-1001' },
    },
  };
  for (const [group, members] of Object.entries(changes))
    body[group] = { ...body[group], ...members };
  return body;
}

interface ContentOptions extends Omit<SendOptions, 'template'> {
  readonly key?: string;
}

function post({
  account = shop.id,
  body = content(),
  key: bearer = key,
  headers,
}: ContentOptions = {}): Promise<TextResponse> {
  return sendRequest(`${service.url}/ete/v1/email/${account}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}`, ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
}

async function accept(body: unknown): Promise<string> {
  const { status, body: answer, text } = await post({ body });
  assert.equal(status, 200, text);
  return String(answer.messageId);
}

async function mailTo(address: string): Promise<CapturedMail> {
  const [mail] = await readInbox(service.url, `?to=${address}&wait=60`);
  assert.ok(mail, address);
  return mail;
}

async function refusalOf(
  options: ContentOptions,
): Promise<readonly [name: unknown, fields: readonly string[]]> {
  const { body } = await post(options);
  const details = body.details as readonly { readonly field: string }[];
  return [body.errorName, details.map(({ field }) => field)];
}

interface StoredRow {
  readonly id: string;
  readonly to: string;
  readonly name: string | null;
  readonly template_id: string;
  readonly subject: string;
}

async function storedAs(externalId: string): Promise<StoredRow[]> {
  const { rows } = await database.pool.query<StoredRow>(
    `select id, content ->> 'to' as to, content ->> 'toName' as name, template_id, content ->> 'subjectLine' as subject
     from message where account_id = $1 and external_id = $2 order by 2`,
    [shop.id, externalId],
  );
  return rows;
}

test('a message is personalized as a template is: values are escaped, formatted and left in their places', async () => {
  const body = content({
    envelope: {
      toAddress: 'personal@people.test',
      toDisplayName: 'Ada L.',
      fromDisplayName: 'Orders',
    },
    content: {
      subjectLine: '{{#Name}}{{Name}}, {{/Name}}your order of {{date "long" Day}}',
      html: '<style>p { color: red }</style>\n<p title="{{Name}}">{{Name}}</p><a href="https://x.test/?q={{Name}}">x</a>',
      text: 'For {{Name}}: {{number "0.0" Total}}',
      locale: 'de',
      personalizationDataMap: { Name: '<Ada & Co>', Day: '2026-03-12', Total: '1234.5' },
    },
  });
  const id = await accept(body);
  const { source } = await mailTo('personal@people.test');
  const mail = readSentMail(source);
  assert.equal(mail.subject, '<Ada & Co>, your order of 12. März 2026');
  assert.equal(
    mail.html?.trimEnd(),
    '<style>p { color: red }</style>\n<p title="&lt;Ada &amp; Co&gt;">&lt;Ada &amp; Co&gt;</p><a href="https://x.test/?q=%3CAda%20%26%20Co%3E">x</a>',
  );
  assert.equal(mail.text?.trimEnd(), 'For <Ada & Co>: 1234,5');
  assert.equal(mail.decoded('from'), 'Orders <orders@shop.test>');
  assert.equal(mail.decoded('to'), '"Ada L." <personal@people.test>');
  assert.equal(mail.fields.get('auto-submitted'), 'auto-generated');
  const { body: status } = await new SendClient(service, token, shop.id).status(id);
  assert.equal(status.templateId, '.raw');
  assert.equal(status.subjectLine ?? mail.subject, mail.subject);
});

test('literal content is sent as it is, and no text is derived from HTML', async () => {
  const html = '<p class="{{#broken">{{Name}} {{{</p>\r\n<style>p{}</style>';
  await accept(
    content({
      envelope: { toAddress: 'literal@people.test' },
      content: {
        subjectLine: '{{Literally}}',
        html,
        literal: true,
        personalizationDataMap: undefined,
      },
    }),
  );
  const { source } = await mailTo('literal@people.test');
  const mail = readSentMail(source);
  assert.equal(mail.subject, '{{Literally}}');
  assert.equal(mail.html?.trimEnd(), html.replace('\r\n', '\n'));
  assert.equal(mail.text, undefined);
  assert.match(source, /^Content-Type: text\/html; charset=utf-8\r?$/m);
});

test('nothing is tracked unless it is asked for', async () => {
  const html = '<a href="https://shop.test/a">a</a>';
  const plain = { subjectLine: 'Links', html, literal: true, personalizationDataMap: undefined };
  await accept(content({ envelope: { toAddress: 'untracked@people.test' }, content: plain }));
  assert.equal((await mailTo('untracked@people.test')).html?.trimEnd(), html);
  await accept(
    content({
      envelope: { toAddress: 'tracked@people.test' },
      content: plain,
      actions: { trackClicks: true, trackOpens: true },
    }),
  );
  const tracked = await mailTo('tracked@people.test');
  assert.match(tracked.html ?? '', /\/c\/.*\/o\//s);
});

test('headers show To and Cc as asked and hide Bcc, and each address gets one message of its own', async () => {
  const id = await accept(
    content({
      envelope: {
        toAddress: 'to@several.test',
        ccAddressList: ['cc@several.test', 'To@several.test'],
        bccAddressList: ['bcc@several.test'],
      },
      metadata: { externalId: 'several', tagList: ['several'] },
    }),
  );
  const rows = await storedAs('several');
  assert.deepEqual(
    rows.map(({ to }) => to),
    ['bcc@several.test', 'cc@several.test', 'to@several.test'],
  );
  assert.equal(rows.find((row) => row.to === 'to@several.test')?.id, id);
  assert.ok(rows.every((row) => row.template_id === '.raw' && row.subject === 'Order A-1001'));
  const mails = await Promise.all(rows.map(({ to }) => mailTo(to)));
  for (const [index, { source, envelopeTo }] of mails.entries()) {
    assert.deepEqual(envelopeTo, [rows[index]?.to]);
    const mail = readSentMail(source);
    assert.equal(mail.decoded('to'), 'to@several.test');
    assert.equal(mail.decoded('cc'), 'cc@several.test, To@several.test');
    assert.doesNotMatch(source, /bcc@several/i);
  }
  assert.equal(new Set(mails.map(({ source }) => /^Message-ID:.*$/im.exec(source)?.[0])).size, 1);
});

test('suppressed Cc and Bcc addresses are left out and named, and a suppressed To refuses the message', async () => {
  for (const address of ['gone@suppressed.test', 'left@suppressed.test'])
    await database.pool.query(
      `insert into suppression (account_id, address, reason) values ($1, $2, 'hard_bounce')`,
      [shop.id, address],
    );
  const envelope = {
    toAddress: 'here@suppressed.test',
    ccAddressList: ['gone@suppressed.test', 'also@suppressed.test', 'suppressed@simulator.test'],
    bccAddressList: ['left@suppressed.test'],
  };
  const body = content({ envelope, metadata: { externalId: 'suppressed' } });
  const headers = { 'idempotency-key': 'suppressed' };
  const first = await post({ body, headers });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual((first.body.suppressedRecipients as string[]).toSorted(), [
    'gone@suppressed.test',
    'left@suppressed.test',
    'suppressed@simulator.test',
  ]);
  assert.deepEqual(
    (await storedAs('suppressed')).map(({ to }) => to),
    ['also@suppressed.test', 'here@suppressed.test'],
  );
  const again = await post({ body, headers });
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  const refused = await post({
    body: content({ envelope: { toAddress: 'gone@suppressed.test' } }),
  });
  assert.equal(refused.body.errorName, 'RECIPIENT_SUPPRESSED');
});

test('a repetition with its key is sent once, and another body with the key is refused', async () => {
  const body = content({ metadata: { externalId: 'repeated' } });
  const headers = { 'idempotency-key': 'content-1' };
  const first = await post({ body, headers });
  const second = await post({ body, headers });
  assert.deepEqual(second.body, first.body);
  assert.equal(second.headers.get('idempotency-replayed'), 'true');
  assert.equal((await storedAs('repeated')).length, 1);
  assert.equal((await post({ headers })).body.errorName, 'IDEMPOTENCY_MISMATCH');
});

test('a repetition has the status link of the first request, also if it would be refused now', async () => {
  const body = content({ actions: { statusToken: true } });
  const headers = { 'idempotency-key': 'content-status' };
  const first = await post({ body, headers });
  assert.match(String(first.body.statusUrl), /\/status\//);
  const again = await post({ body, headers: { ...headers, 'content-type': 'text/plain' } });
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
});

test('only a key with messages:send-content may send content: no key bound to templates, and no access token', async () => {
  const refused = [
    token,
    await addKey(database, shop.id, { scopes: ['messages:send', 'messages:status'] }),
    await addKey(database, shop.id, {
      scopes: ['messages:send'],
      templates: ['t-0001' as TemplateId],
    }),
  ];
  for (const bearer of refused) {
    const answer = await post({ key: bearer });
    assert.equal(answer.body.errorName, 'UNAUTHORIZED');
    assert.match(String(answer.headers.get('www-authenticate')), /insufficient_scope/);
  }
  assert.equal((await post({ key: 'forged' })).body.errorName, 'UNAUTHORIZED');
});

test('7: the first failing check determines the response, in the order of the send operation', async () => {
  const other = await saveShop(database, { id: `${shop.id}-s`, suspended: true, addOns: [] });
  const itsKey = await addKey(database, other, { scopes: ['messages:send-content'] });
  const body = content({
    envelope: { toAddress: 'gone@order.test', fromAddress: 'late@shop.test' },
    content: { personalizationDataMap: undefined },
    metadata: { transactional: true },
  }) as Record<string, unknown>;
  await database.pool.query(
    `insert into suppression (account_id, address, reason) values ($1, 'gone@order.test', 'hard_bounce')`,
    [other],
  );
  let now: ContentOptions = {
    account: '%zz',
    key: 'forged',
    body: '{',
    headers: { 'idempotency-key': 'ü', 'content-type': 'text/plain' },
  };
  const name = async (): Promise<unknown> => (await post(now)).body.errorName ?? 'OK';
  assert.equal(await name(), 'UNAUTHORIZED');
  now = { ...now, key: itsKey };
  assert.equal(await name(), 'INVALID_ID');
  now = { ...now, account: other };
  assert.equal(await name(), 'ACCOUNT_SUSPENDED');
  await saveShop(database, { id: other, addOns: [] });
  await waitFor('the end of the suspension', async () => (await name()) !== 'ACCOUNT_SUSPENDED');
  assert.deepEqual(await refusalOf(now), ['VALIDATION_FAILED', ['Idempotency-Key']]);
  now = { ...now, headers: { 'content-type': 'text/plain' } };
  assert.deepEqual(await refusalOf(now), ['VALIDATION_FAILED', ['']]);
  now = { ...now, headers: {} };
  assert.deepEqual(await refusalOf(now), ['VALIDATION_FAILED', ['']]);
  now = { ...now, body };
  assert.deepEqual(await refusalOf(now), ['VALIDATION_FAILED', ['metadata.transactional']]);
  body.metadata = {};
  assert.deepEqual(await refusalOf(now), ['SENDER_NOT_ALLOWED', ['envelope.fromAddress']]);
  await addSender(database, other as AccountId, 'late@shop.test');
  await waitFor('the sender', async () => (await name()) !== 'SENDER_NOT_ALLOWED');
  assert.deepEqual(await refusalOf(now), [
    'PERSONALIZATION_FAILURE',
    ['content.personalizationDataMap.Order Number'],
  ]);
  body.content = { ...(body.content as object), personalizationDataMap: { 'Order Number': 'A' } };
  assert.equal(await name(), 'RECIPIENT_SUPPRESSED');
  body.envelope = { toAddress: 'here@order.test', fromAddress: 'late@shop.test' };
  assert.equal(await name(), 'OK');
});

const refusals: readonly (readonly [what: string, changes: Groups, fields: readonly string[]])[] = [
  ['neither HTML nor text', { content: { html: '', text: '' } }, ['content']],
  ['no subject', { content: { subjectLine: undefined } }, ['content.subjectLine']],
  ['an empty subject', { content: { subjectLine: '' } }, ['content.subjectLine']],
  [
    'a subject longer than a line',
    { content: { subjectLine: 'a'.repeat(999) } },
    ['content.subjectLine'],
  ],
  ['no sender', { envelope: { fromAddress: '' } }, ['envelope.fromAddress']],
  [
    'what only templates have',
    {
      content: { previewText: 'x' },
      actions: { templateVersion: 'due', deliveryWhenDelayed: 'TRUE' },
    },
    ['content.previewText', 'actions.templateVersion', 'actions.deliveryWhenDelayed'],
  ],
  ['broken markup', { content: { html: '<p>{{#A}}</p>' } }, ['content.html']],
  [
    'a field where no escaping is safe',
    { content: { html: '<script>{{A}}</script>' } },
    ['content.html'],
  ],
  [
    'a field that the service fills in',
    { content: { html: '<a href="{{Unsubscribe Link}}">x</a>' } },
    ['content.html'],
  ],
  [
    'a value that a helper can’t read',
    {
      content: {
        text: '{{date "long" Day}}',
        personalizationDataMap: { 'Order Number': 'A', Day: 'soon' },
      },
    },
    ['content.personalizationDataMap.Day'],
  ],
  [
    'a value that would empty a link',
    {
      content: {
        html: '<a href="{{A}}">x</a>',
        subjectLine: 'x',
        personalizationDataMap: { A: 'javascript:alert(1)' },
      },
    },
    ['content.personalizationDataMap.A'],
  ],
  [
    'a list',
    { content: { personalizationDataMap: { 'Order Number': ['A'] } } },
    ['content.personalizationDataMap.Order Number'],
  ],
  ['values of literal content', { content: { literal: true } }, ['content.personalizationDataMap']],
  [
    'a header that the service writes',
    { content: { headers: { 'List-Unsubscribe': '<https://x.test>' } } },
    ['content.headers.List-Unsubscribe'],
  ],
  [
    'two reply addresses',
    { envelope: { replyToAddress: 'orders@shop.test' }, actions: { receiveReplies: true } },
    ['actions.receiveReplies'],
  ],
];

for (const [what, changes, fields] of refusals)
  test(`a message is refused for ${what}, naming it`, async () => {
    assert.deepEqual(await refusalOf({ body: content(changes) }), ['VALIDATION_FAILED', fields]);
  });

test('values that make a body too large are refused, and so is a body of 4 MiB', async () => {
  const html = '{{A}}'.repeat(20);
  const values = { A: 'x'.repeat(150_000), 'Order Number': 'A' };
  assert.deepEqual(
    await refusalOf({ body: content({ content: { html, personalizationDataMap: values } }) }),
    ['VALIDATION_FAILED', ['content.personalizationDataMap.A']],
  );
  assert.deepEqual(
    await refusalOf({
      body: content({ content: { html: '{{A}}'.repeat(10), personalizationDataMap: values } }),
    }),
    ['VALIDATION_FAILED', ['content.personalizationDataMap']],
  );
  const { status, body } = await post({
    body: content({ content: { html: 'x'.repeat(4 * 1_024 * 1_024) } }),
  });
  assert.deepEqual([status, body.errorName], [400, 'VALIDATION_FAILED']);
});

test('a burst of personalized messages of one account waits its turn', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => post()));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test('files are sent as attachments or inline, and refused by the rules of the send operation', async () => {
  const logo = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1').toString('base64');
  const pdf = Buffer.from(`%PDF-1.7\n${'A receipt. '.repeat(30_000)}`);
  await accept(
    content({
      envelope: { toAddress: 'files@people.test' },
      content: {
        html: '<img src="cid:logo@shop.test"> {{Order Number}}',
        text: 'Attached.',
        attachments: [
          {
            filename: 'logo.png',
            contentType: 'image/png',
            contentId: 'logo@shop.test',
            content: logo,
          },
          {
            filename: 'Beleg.pdf',
            contentType: 'application/pdf',
            content: pdf.toString('base64'),
          },
        ],
      },
    }),
  );
  const { source } = await mailTo('files@people.test');
  assert.match(source, /multipart\/mixed;[\s\S]*multipart\/related;[\s\S]*multipart\/alternative;/);
  const mail = readSentMail(source);
  assert.deepEqual(
    mail.files.map(({ filename, content: { length } }) => [filename, length]),
    [
      ['logo.png', 22],
      ['Beleg.pdf', pdf.length],
    ],
  );
  const program = {
    filename: 'run.exe',
    contentType: 'application/octet-stream',
    content: 'TVqQAAA=',
  };
  assert.deepEqual(await refusalOf({ body: content({ content: { attachments: [program] } }) }), [
    'VALIDATION_FAILED',
    ['content.attachments[0]'],
  ]);
});

test('a send time and attributes are those of a send', async () => {
  await addSender(database, shop.id, 'help@shop.test');
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const id = await accept(
    content({
      envelope: { toAddress: 'later@people.test', replyToAddress: 'help@shop.test' },
      content: { headers: { 'X-Order': 'Ä 1' } },
      metadata: { attributes: { order: 'A-1' } },
      actions: { sendAt },
    }),
  );
  const { rows } = await database.pool.query(
    `select content ->> 'sendAt' as "sendAt", content -> 'attributes' as attributes from message where id = $1`,
    [id],
  );
  assert.deepEqual(rows, [{ sendAt, attributes: { order: 'A-1' } }]);
});

test('the bytes of a message are what a template’s are in form', async () => {
  await addSender(database, shop.id, 'help@shop.test');
  await accept(
    content({
      envelope: { toAddress: 'form@people.test', replyToAddress: 'help@shop.test' },
      content: {
        subjectLine: 'Grüße',
        text: 'ü',
        headers: { 'X-Order': 'A 1', References: '<a@b.test>' },
      },
    }),
  );
  const { source } = await mailTo('form@people.test');
  const id = /Message-ID: <([0-9a-f-]{36})@shop\.test>/.exec(source)?.[1];
  const own = source.slice(source.indexOf('From: ')).replace(/^Date: .*$/m, 'Date: now');
  const [head = ''] = own.split(/\r?\n\r?\n/);
  assert.deepEqual(
    own.split(/\r?\n/).filter((line) => !/^List-|^Feedback-ID| <?https?:/.test(line)),
    [
      'From: Demo Shop <orders@shop.test>',
      'Reply-To: help@shop.test',
      'To: form@people.test',
      'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
      'Date: now',
      `Message-ID: <${id}@shop.test>`,
      'References: <a@b.test>',
      'X-Order: A 1',
      'Auto-Submitted: auto-generated',
      'MIME-Version: 1.0',
      'Content-Type: multipart/alternative;',
      ` boundary="=_${id}"`,
      '',
      `--=_${id}`,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '=C3=BC',
      '',
      `--=_${id}`,
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '<p>Your order is A-1001.</p>',
      '',
      `--=_${id}--`,
      '',
    ],
    head,
  );
});

test('a path that ends in a slash names an empty template, as before', async () => {
  const { body } = await sendRequest(`${service.url}/ete/v1/email/${shop.id}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: '{}',
  });
  assert.equal(body.errorName, 'INVALID_ID');
  const get = await sendRequest(`${service.url}/ete/v1/email/${shop.id}`, { headers: {} });
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
});
