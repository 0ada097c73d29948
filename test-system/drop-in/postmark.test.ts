import assert from 'node:assert/strict';
import { test } from 'node:test';
import postmark from 'postmark';
import { postmark as dropIn } from '../../src/drop-in/postmark/postmark.ts';
import { addKey } from '../../test/support/api-key.ts';
import { type CapturedMail, readInbox } from '../../test/support/inbox-client.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { addSender } from '../../test/support/shop.ts';
import { openTestShop } from '../../test/support/test-shop.ts';

const { database, service, shop } = await openTestShop();
await addSender(database, shop.id, 'sender@shop.test', { displayNames: ['*'] });
await addSender(database, shop.id, 'help@shop.test');
await addSender(database, shop.id, 'sales@shop.test');
const key = await addKey(database, shop.id, { scopes: dropIn.scopes });

/** A client of the variables that `key create --for postmark` prints. */
function clientWith(token: string): postmark.ServerClient {
  const printed = dropIn.environment(`${service.url}/postmark`, token);
  const { POSTMARK_SERVER_TOKEN = '', POSTMARK_REQUEST_HOST: requestHost } = printed;
  return new postmark.ServerClient(POSTMARK_SERVER_TOKEN, {
    useHttps: false,
    ...(requestHost !== undefined && { requestHost }),
  });
}

const client = clientWith(key);

type ErrorClass = new (...given: never[]) => postmark.Errors.PostmarkError;

/** The error of a call, which must be of the class. */
async function errorOf(
  call: Promise<unknown>,
  expected: ErrorClass = postmark.Errors.ApiInputError,
): Promise<postmark.Errors.PostmarkError> {
  const error = await call.then(
    () => assert.fail('no error'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof expected, String(error));
  return error;
}

async function mailTo(address: string): Promise<CapturedMail> {
  const [mail] = await readInbox(service.url, `?to=${address}&wait=60`);
  assert.ok(mail, address);
  return mail;
}

const From = 'sender@shop.test';

test('sendEmail sends what was asked, part by part', async () => {
  const pdf = Buffer.from('%PDF-1.7\nInvoice');
  const logo = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');
  const sent = await client.sendEmail({
    From: 'Ünï Cödé <sender@shop.test>',
    To: 'ada@postmark.test, "Bob, the second" <bob@postmark.test>',
    Cc: 'cc@postmark.test',
    Bcc: 'bcc@postmark.test',
    ReplyTo: 'help@shop.test, Sales <sales@shop.test>',
    Subject: 'It {{works}}',
    HtmlBody: '<p>Hello</p><img src="cid:logo">',
    TextBody: 'Hello in {{text}}',
    Tag: 'invitation',
    Metadata: { color: 'blue', 'client-id': '12345' },
    Headers: [{ Name: 'X-CUSTOM-HEADER', Value: 'value' }],
    TrackOpens: false,
    TrackLinks: postmark.Models.LinkTrackingOptions.None,
    MessageStream: 'outbound',
    Attachments: [
      new postmark.Models.Attachment('invoice.pdf', pdf.toString('base64'), 'application/pdf'),
      {
        Name: 'logo.png',
        Content: logo.toString('base64'),
        ContentType: 'image/png',
        ContentID: 'cid:logo',
      },
    ],
  });
  const { MessageID, SubmittedAt, ...rest } = sent;
  assert.match(MessageID, /^[0-9a-f-]{36}$/);
  assert.ok(Math.abs(Date.parse(SubmittedAt) - Date.now()) < 600_000);
  assert.deepEqual(rest, {
    To: 'ada@postmark.test, "Bob, the second" <bob@postmark.test>',
    Cc: 'cc@postmark.test',
    Bcc: 'bcc@postmark.test',
    ErrorCode: 0,
    Message: 'OK',
  });
  for (const address of ['ada', 'bob', 'cc', 'bcc']) {
    const { source, envelopeTo } = await mailTo(`${address}@postmark.test`);
    assert.deepEqual(envelopeTo, [`${address}@postmark.test`]);
    const mail = readSentMail(source);
    assert.equal(mail.decoded('from'), 'Ünï Cödé <sender@shop.test>');
    assert.equal(mail.decoded('to'), 'ada@postmark.test, "Bob, the second" <bob@postmark.test>');
    assert.equal(mail.decoded('cc'), 'cc@postmark.test');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test, Sales <sales@shop.test>');
    assert.equal(mail.subject, 'It {{works}}');
    assert.equal(mail.html?.trimEnd(), '<p>Hello</p><img src="cid:logo">');
    assert.equal(mail.text?.trimEnd(), 'Hello in {{text}}');
    assert.equal(mail.fields.get('x-custom-header'), 'value');
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
    assert.doesNotMatch(source, /bcc@postmark/);
  }
});

test('opens and links are tracked if that is asked', async () => {
  const email = {
    From,
    To: 'tracked@postmark.test',
    Subject: 'Tracked',
    HtmlBody: '<p><a href="https://shop.test/a">Shop</a></p>',
    TextBody: 'https://shop.test/a',
    TrackOpens: true,
    TrackLinks: postmark.Models.LinkTrackingOptions.HtmlAndText,
  };
  await client.sendEmail(email);
  const mail = readSentMail((await mailTo('tracked@postmark.test')).source);
  assert.match(mail.html ?? '', /<img/);
  assert.doesNotMatch(mail.html ?? '', /href="https:\/\/shop\.test\/a"/);
  assert.equal(mail.text?.trimEnd(), 'https://shop.test/a');
  const textOnly = { ...email, TrackLinks: postmark.Models.LinkTrackingOptions.TextOnly };
  assert.match((await errorOf(client.sendEmail(textOnly))).message, /^TrackLinks must be one of/);
});

test('sendEmailWithTemplate sends a template by its alias with its model', async () => {
  const email = {
    From: 'Demo Shop <orders@shop.test>',
    To: 'Ada <template@postmark.test>',
    // As `signalpost import` writes it: in lower case, with hyphens.
    TemplateAlias: 'T_0001'.replace('_', ' '),
    TemplateModel: { 'Order Number': 1001, 'First Name': 'Ada' },
    Tag: 'orders',
    Metadata: { order: '1001' },
  };
  const { ErrorCode } = await client.sendEmailWithTemplate(email);
  assert.equal(ErrorCode, 0);
  const mail = readSentMail((await mailTo('template@postmark.test')).source);
  assert.equal(mail.subject, 'Your order 1001');
  assert.match(mail.html ?? '', /Hello Ada, your order is 1001/);
  assert.equal(mail.decoded('to'), 'Ada <template@postmark.test>');
  const missing = await errorOf(client.sendEmailWithTemplate({ ...email, TemplateModel: {} }));
  assert.match(missing.message, /^TemplateModel\.Order Number has no value/);
  const { TemplateAlias: _, ...byNumber } = { ...email, TemplateId: 12_345 };
  assert.equal((await errorOf(client.sendEmailWithTemplate(byNumber))).code, 1_101);
  const both = await errorOf(client.sendEmailWithTemplate({ ...email, TemplateId: 1 }));
  assert.match(both.message, /^TemplateId or TemplateAlias is required, and not both\.$/);
  const several = { ...email, To: 'a@postmark.test,b@postmark.test' };
  assert.match(
    (await errorOf(client.sendEmailWithTemplate(several))).message,
    /^To can’t have several addresses/,
  );
  const plain = await errorOf(client.sendEmailWithTemplate({ ...email, InlineCss: false }));
  assert.match(plain.message, /^InlineCss can only be true/);
});

test('batches have a result for each email, and those that are refused stop no other', async () => {
  const good = (name: string) => ({
    From,
    To: `${name}@batch.test`,
    Subject: name,
    TextBody: name,
    Attachments: [
      {
        Name: 'a.txt',
        Content: Buffer.from(name).toString('base64'),
        ContentType: 'text/plain',
        ContentID: null,
      },
    ],
  });
  const results = await client.sendEmailBatch([
    good('one'),
    { ...good('bad'), From: 'stranger@elsewhere.test' },
    { ...good('suppressed'), To: 'suppressed@simulator.test' },
    good('two'),
  ]);
  assert.deepEqual(
    results.map(({ ErrorCode }) => ErrorCode),
    [0, 400, 406, 0],
  );
  assert.equal(results[1]?.Message, 'From is not a verified sender of this account.');
  for (const name of ['one', 'two']) {
    const mail = readSentMail((await mailTo(`${name}@batch.test`)).source);
    assert.equal(String(mail.files[0]?.content), name);
  }
  const tooMany = Array.from({ length: 501 }, (_, index) => good(`n${index}`));
  assert.match((await errorOf(client.sendEmailBatch(tooMany))).message, /more than 500 emails/);
  const templated = await client.sendEmailBatchWithTemplates([
    { From, To: 'three@batch.test', TemplateAlias: 't-0001', TemplateModel: { 'Order Number': 3 } },
    { From, To: 'four@batch.test', TemplateAlias: 'none', TemplateModel: {} },
  ]);
  assert.deepEqual(
    templated.map(({ ErrorCode }) => ErrorCode),
    [0, 1_101],
  );
  assert.equal(readSentMail((await mailTo('three@batch.test')).source).subject, 'Your order 3');
});

const refusals: readonly (readonly [
  what: string,
  members: object,
  message: RegExp,
  code?: number,
])[] = [
  ['no sender', { From: undefined }, /^From is required\.$/],
  [
    'a sender that isn’t verified',
    { From: 'a@other.test' },
    /^From is not a verified sender of this account\.$/,
    400,
  ],
  ['a malformed sender', { From: 'Acme' }, /^From is not an address/],
  ['a malformed recipient', { To: 'a@b.test, nobody' }, /^To is not an address/],
  ['a quote without an end', { To: '"a <a@b.test>' }, /^To has a quote without an end/],
  ['no recipient', { To: ' , ' }, /^To is required/],
  ['a reply address that isn’t verified', { ReplyTo: 'a@other.test' }, /^ReplyTo is not a v/, 400],
  ['neither HTML nor text', { TextBody: undefined }, /^HtmlBody or TextBody needs html, text/],
  ['no subject', { Subject: undefined }, /^Subject /],
  ['a recipient of the wrong type', { To: 5 }, /^To must be a string\.$/],
  ['another stream', { MessageStream: 'broadcast' }, /^MessageStream can only be outbound/],
  ['a long tag', { Tag: 'a'.repeat(49) }, /^Tag /],
  ['long metadata', { Metadata: { a: 'b'.repeat(201) } }, /^Metadata/],
  ['an unknown member', { Priority: 'high' }, /^Priority isn’t known to Signalpost; remove it\.$/],
  [
    'a disposition',
    { Attachments: [{ Name: 'a.txt', Content: 'YQ==', Disposition: 'inline' }] },
    /^Attachments\[0\]\.Disposition isn’t supported/,
  ],
  [
    'a program',
    { Attachments: [{ Name: 'run.exe', Content: 'TVo=', ContentType: 'text/plain' }] },
    /^Attachments\[0\]/,
  ],
  [
    'a header of the service',
    { Headers: [{ Name: 'List-Unsubscribe', Value: '<https://a.test>' }] },
    /^Headers\.List-Unsubscribe is set by the service/,
  ],
  [
    'a header twice',
    { Headers: [1, 2].map((value) => ({ Name: 'X-A', Value: String(value) })) },
    /^Headers\[1\]\.Name is given twice/,
  ],
];

for (const [what, members, pattern, code = 300] of refusals)
  test(`an email with ${what} is refused in Postmark’s form, naming it`, async () => {
    const email = { From, To: 'x@postmark.test', Subject: 'No', TextBody: 'No', ...members };
    const error = await errorOf(client.sendEmail(email));
    assert.match(error.message, pattern);
    assert.deepEqual([error.statusCode, error.code], [422, code]);
  });

test('the SDK reads which recipients are suppressed', async () => {
  const email = { From, To: 'suppressed@simulator.test', Subject: 'No', TextBody: 'No' };
  const inactive = postmark.Errors.InactiveRecipientsError;
  const error = await errorOf(client.sendEmail(email), inactive);
  assert.ok(error instanceof inactive);
  assert.equal(error.code, 406);
  assert.deepEqual(error.recipients, ['suppressed@simulator.test']);
  const partly = await client.sendEmail({
    ...email,
    To: 'partly@postmark.test',
    Cc: 'suppressed@simulator.test',
  });
  assert.equal(
    partly.Message,
    'Message OK, but will not deliver to these inactive addresses: suppressed@simulator.test',
  );
});

test('a body that isn’t JSON is refused as such', async () => {
  for (const [path, body, code] of [
    ['/email', '{', 402],
    ['/email', '', 402],
    ['/email', '[]', 300],
    ['/email/batch', '{}', 300],
    ['/email/batch', '[{]', 402],
    ['/email/batchWithTemplates', '[]', 300],
    ['/email/batchWithTemplates', '{"Messages":5}', 300],
    ['/email/batchWithTemplates', '{"Messages":[],"More":1}', 300],
  ] as const) {
    const headers = { 'x-postmark-server-token': key, 'content-type': 'application/json' };
    const url = `${service.url}/postmark${path}`;
    const answer = await sendRequest(url, { method: 'POST', headers, body });
    assert.deepEqual([answer.status, answer.body.ErrorCode], [422, code], `${path} ${body}`);
  }
});
