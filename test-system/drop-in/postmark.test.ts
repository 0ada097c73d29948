import assert from 'node:assert/strict';
import { test } from 'node:test';
import postmark from 'postmark';
import { readApiKeys, removeApiKey } from '../../src/accounts/access/api-key-store.ts';
import { postmark as dropIn } from '../../src/drop-in/postmark/postmark.ts';
import { addKey } from '../../test/support/api-key.ts';
import { type CapturedMail, readInbox } from '../../test/support/inbox-client.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { addSender } from '../../test/support/shop.ts';
import { openTestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

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

test('templates are listed and read by their ID or alias', async () => {
  const { TotalCount, Templates } = await client.getTemplates();
  assert.equal(TotalCount, Templates.length);
  const listed = {
    Active: true,
    TemplateId: 0,
    Name: Templates[0]?.Name,
    Alias: 't-0001',
    TemplateType: 'Standard',
    LayoutTemplate: null,
  };
  assert.deepEqual(Templates[0], listed);
  const template = await client.getTemplate('T 0001');
  assert.equal(template.Alias, 't-0001');
  assert.equal(template.Subject, 'Your order {{Order Number}}');
  assert.match(template.HtmlBody ?? '', /\{\{First Name\}\}/);
  assert.equal((await errorOf(client.getTemplate(12_345))).code, 1_101);
  assert.deepEqual((await client.getTemplates({ count: 1, offset: 400 })).Templates, []);
  const layouts = { templateType: postmark.Models.TemplateTypes.Layout };
  assert.match((await errorOf(client.getTemplates(layouts))).message, /^Templatetype must be /);
});

test('messages are searched and read with what was asked and what happened', async () => {
  const { MessageID } = await client.sendEmail({
    From: 'Shop <sender@shop.test>',
    To: 'Read <read@postmark.test>',
    Cc: 'other@postmark.test',
    Subject: 'Read',
    HtmlBody: '<p>Read</p>',
    TextBody: 'Read me',
    Tag: 'read',
    Metadata: { color: 'blue' },
    TrackOpens: true,
    Attachments: [{ Name: 'a.txt', Content: 'YQ==', ContentType: 'text/plain', ContentID: null }],
  });
  await mailTo('read@postmark.test');
  const message = await waitFor('the message to be delivered', async () => {
    const found = await client.getOutboundMessageDetails(MessageID);
    return found.Status === 'Sent' && found;
  });
  const { ReceivedAt, MessageEvents, HtmlBody, TextBody, ...rest } = message;
  assert.ok(Math.abs(Date.parse(ReceivedAt) - Date.now()) < 600_000);
  assert.match(HtmlBody ?? '', /^<p>Read<\/p>/);
  assert.equal(TextBody?.trimEnd(), 'Read me');
  assert.deepEqual(rest, {
    MessageID,
    MessageStream: 'outbound',
    Tag: 'read',
    To: [{ Email: 'read@postmark.test', Name: 'Read' }],
    Cc: [{ Email: 'other@postmark.test', Name: '' }],
    Bcc: [],
    Recipients: ['read@postmark.test'],
    From: 'Shop <sender@shop.test>',
    Subject: 'Read',
    Attachments: ['a.txt'],
    Status: 'Sent',
    TrackOpens: true,
    TrackLinks: 'None',
    Metadata: { color: 'blue' },
    Sandboxed: false,
  });
  const [delivered] = MessageEvents;
  assert.deepEqual([delivered?.Type, delivered?.Recipient], ['Delivered', 'read@postmark.test']);
  const ids = await waitFor('the search', async () => {
    const { Messages, TotalCount } = await client.getOutboundMessages({
      recipient: 'READ@postmark.test',
      tag: 'read',
      fromDate: '2020-01-01',
      toDate: new Date().toISOString().slice(0, 10),
      messageStream: 'outbound',
    });
    assert.equal(TotalCount, Messages.length);
    return Messages.length > 0 && Messages.map((found) => found.MessageID);
  });
  assert.deepEqual(ids, [MessageID]);
  const first = await client.getOutboundMessages({ count: 1, tag: 'read' });
  assert.deepEqual([first.Messages.length, first.TotalCount], [1, 2]);
  const second = await client.getOutboundMessages({ count: 1, offset: 1, tag: 'read' });
  assert.deepEqual([second.Messages.length, second.TotalCount], [1, 2]);
  assert.notEqual(first.Messages[0]?.MessageID, second.Messages[0]?.MessageID);
  for (const [filter, message] of [
    [{ subject: 'Read' }, /^Subject isn’t supported; search by/],
    [{ metadata_color: 'blue' }, /^Metadata_color isn’t known to Signalpost/],
    [{ count: 501 }, /^Count must be a number from 1 to 500/],
    [{ count: 500, offset: 9_501 }, /^Offset and count must not be more than 10000/],
    [{ tag: 'a\0b' }, /^Tag /],
    [{ fromDate: '1969-12-31' }, /^Fromdate must be a time such as/],
    [{ fromDate: '+275760-09-13' }, /^Fromdate must be a time such as/],
    [{ toDate: '2026-02-30' }, /^Todate must be a time such as/],
    [{ fromDate: 'yesterday' }, /^Fromdate must be a time such as/],
    [{ messageStream: 'broadcast' }, /^Messagestream can only be outbound/],
  ] as const)
    assert.match((await errorOf(client.getOutboundMessages(filter))).message, message);
  assert.equal((await errorOf(client.getOutboundMessageDetails('no'))).code, 701);
});

test('a bounce is listed and read by its ID', async () => {
  const To = 'bounce+postmark@simulator.test';
  const email = { From, To, Subject: 'Bounces', TextBody: 'B', Tag: 'bouncing' };
  const { MessageID } = await client.sendEmail(email);
  const bounce = await waitFor('the bounce', async () => {
    const { Bounces, TotalCount } = await client.getBounces({ tag: 'bouncing', emailFilter: To });
    assert.equal(TotalCount, Bounces.length);
    return Bounces[0];
  });
  const { ID, BouncedAt, Description, Details, ...rest } = bounce;
  assert.deepEqual(rest, {
    RecordType: 'Bounce',
    Type: 'HardBounce',
    TypeCode: 1,
    Name: 'Hard bounce',
    Tag: 'bouncing',
    MessageID,
    MessageStream: 'outbound',
    ServerID: 0,
    Email: To,
    From,
    Subject: 'Bounces',
    DumpAvailable: false,
    Inactive: true,
    CanActivate: true,
  });
  assert.ok(Number.isSafeInteger(ID));
  assert.ok(Math.abs(Date.parse(BouncedAt) - Date.now()) < 600_000);
  assert.equal(Description, Details);
  assert.deepEqual(await client.getBounce(ID), bounce);
  const [event] = (await client.getOutboundMessageDetails(MessageID)).MessageEvents;
  assert.deepEqual([event?.Type, event?.Details], ['Bounced', { Summary: Details, BounceID: ID }]);
  assert.deepEqual((await client.getBounces({ messageID: MessageID })).Bounces, [bounce]);
  // The simulator's bounces suppress nothing.
  await database.pool.query(
    `insert into suppression (account_id, address, reason, created_at) values ($1, $2, 'hard_bounce', now())`,
    [shop.id, To],
  );
  const refused = await errorOf(client.sendEmail(email), postmark.Errors.InactiveRecipientsError);
  assert.equal(refused.code, 406);
  assert.equal((await errorOf(client.getBounce(ID + 4_096))).code, 407);
  assert.equal((await errorOf(client.getBounce(0))).code, 407);
  assert.match(
    (await errorOf(client.getBounces({ inactive: true }))).message,
    /^Inactive isn’t supported/,
  );
});

test('addresses are suppressed, listed and removed', async () => {
  const created = await client.createSuppressions('outbound', {
    Suppressions: [{ EmailAddress: 'Stop@postmark.test' }, { EmailAddress: 'nobody' }],
  });
  assert.deepEqual(created.Suppressions, [
    { EmailAddress: 'Stop@postmark.test', Status: 'Suppressed', Message: null },
    {
      EmailAddress: 'nobody',
      Status: 'Failed',
      Message: 'EmailAddress is not an email address.',
    },
  ]);
  await database.pool.query(
    `insert into suppression (account_id, address, reason, created_at) values ($1, 'angry@postmark.test', 'complaint', now())`,
    [shop.id],
  );
  const { Suppressions } = await client.getSuppressions('outbound');
  const shown = Suppressions.filter(({ EmailAddress }) => EmailAddress.endsWith('@postmark.test'));
  assert.deepEqual(
    shown.map(({ EmailAddress, SuppressionReason, Origin }) => [
      EmailAddress,
      SuppressionReason,
      Origin,
    ]),
    [
      ['angry@postmark.test', 'SpamComplaint', 'Recipient'],
      ['stop@postmark.test', 'ManualSuppression', 'Customer'],
    ],
  );
  const manual = await client.getSuppressions('outbound', {
    suppressionReason: postmark.Models.SuppressionReason.ManualSuppression,
    emailAddress: 'stop@postmark.test',
    fromDate: '2020-01-01',
  });
  assert.equal(manual.Suppressions.length, 1);
  const earlier = await client.getSuppressions('outbound', { toDate: '2020-01-01' });
  assert.deepEqual(earlier.Suppressions, []);
  const entries = shown.map(({ EmailAddress }) => ({ EmailAddress }));
  const deleted = await client.deleteSuppressions('outbound', { Suppressions: entries });
  assert.deepEqual(deleted.Suppressions, [
    {
      EmailAddress: 'angry@postmark.test',
      Status: 'Failed',
      Message: 'A recipient who complained can’t be reactivated here.',
    },
    { EmailAddress: 'stop@postmark.test', Status: 'Deleted', Message: null },
  ]);
  const { rows } = await database.pool.query(
    `select kind, outcome from audit_event where account_id = $1 and kind like 'suppression%' order by id`,
    [shop.id],
  );
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['suppression_created', 'suppression_removed'],
  );
  const many = Array.from({ length: 51 }, () => ({ EmailAddress: 'a@postmark.test' }));
  const tooMany = client.createSuppressions('outbound', { Suppressions: many });
  assert.match((await errorOf(tooMany)).message, /^Suppressions must not have more than 50/);
  const elsewhere = await errorOf(client.getSuppressions('broadcast'));
  assert.match(elsewhere.message, /^Stream can only be outbound/);
});

test('the overview counts what was sent', async () => {
  const overview = await waitFor('the report', async () => {
    const found = await client.getOutboundOverview({ tag: 'bouncing', fromDate: '2020-01-01' });
    return found.Bounced > 0 && found;
  });
  assert.deepEqual(overview, {
    Sent: 1,
    Bounced: 1,
    SMTPApiErrors: 0,
    BounceRate: 100,
    SpamComplaints: 0,
    SpamComplaintsRate: 0,
    Opens: 0,
    UniqueOpens: 0,
    TotalClicks: 0,
    UniqueLinksClicked: 0,
  });
});

test('keys are checked as everywhere: missing, wrong, of others, revoked and without the permission', async () => {
  const email = { From, To: 'x@postmark.test', Subject: 'x', TextBody: 'x' };
  const { InvalidAPIKeyError } = postmark.Errors;
  const none = await sendRequest(`${service.url}/postmark/email`, {
    method: 'POST',
    headers: {},
    body: '{',
  });
  assert.deepEqual([none.status, none.body.ErrorCode], [401, 10]);
  for (const token of ['POSTMARK_API_TEST', `${key}x`]) {
    const error = await errorOf(clientWith(token).sendEmail(email), InvalidAPIKeyError);
    assert.equal(error.code, 10);
  }
  const sender = clientWith(await addKey(database, shop.id, { scopes: ['messages:send'] }));
  assert.equal((await errorOf(sender.sendEmail(email), InvalidAPIKeyError)).code, 10);
  assert.equal((await errorOf(sender.getBounces(), InvalidAPIKeyError)).code, 10);
  const suppressions = { Suppressions: [{ EmailAddress: 'a@postmark.test' }] };
  const suppressing = sender.createSuppressions('outbound', suppressions);
  assert.equal((await errorOf(suppressing, InvalidAPIKeyError)).code, 10);
  assert.equal((await sender.sendEmailBatch([email]))[0]?.ErrorCode, 10);
  const templated = await sender.sendEmailWithTemplate({
    From: 'orders@shop.test',
    To: 'bound@postmark.test',
    TemplateAlias: 't-0001',
    TemplateModel: { 'Order Number': 'A' },
  });
  assert.equal(templated.ErrorCode, 0);
  const id = String((await readApiKeys(database.kysely, shop.id))[0]?.id);
  await removeApiKey(database.kysely, shop.id, id);
  await waitFor(
    'the key to end',
    async () =>
      (await sender.sendEmailBatch([email]).catch((error: Error) => error)) instanceof
      InvalidAPIKeyError,
    1_000,
  );
});

test('another account’s key can’t see or change anything of this one', async () => {
  await database.pool.query("insert into account (id, name) values ('46199', 'Other')");
  const stranger = clientWith(await addKey(database, '46199' as typeof shop.id));
  const [message] = (await client.getOutboundMessages({ tag: 'bouncing' })).Messages;
  const [bounce] = (await client.getBounces()).Bounces;
  assert.ok(message && bounce);
  const { code } = await errorOf(stranger.getOutboundMessageDetails(message.MessageID));
  assert.equal(code, 701);
  assert.equal((await errorOf(stranger.getBounce(bounce.ID))).code, 407);
  assert.equal((await errorOf(stranger.getTemplate('t-0001'))).code, 1_101);
  assert.deepEqual((await stranger.getSuppressions('outbound')).Suppressions, []);
  assert.deepEqual((await stranger.getOutboundMessages()).Messages, []);
  assert.deepEqual((await stranger.getBounces()).Bounces, []);
  assert.deepEqual((await stranger.getTemplates()).Templates, []);
  assert.equal((await stranger.getOutboundOverview()).Sent, 0);
  const email = { From, To: 'x@postmark.test', Subject: 'x', TextBody: 'x' };
  assert.equal((await errorOf(stranger.sendEmail(email))).code, 400);
});

test('a test key’s messages are accepted without a verified sender, and are sandboxed', async () => {
  const testing = clientWith(await addKey(database, shop.id, { mode: 'test' }));
  const { MessageID } = await testing.sendEmail({
    From: 'anyone@elsewhere.test',
    To: 'sandbox@postmark.test',
    Subject: 'Test',
    TextBody: 'Test',
  });
  assert.equal((await testing.getOutboundMessageDetails(MessageID)).Sandboxed, true);
});

test('each other call of the SDK is answered in Postmark’s form, naming it', async () => {
  const email = { From, To: 'x@postmark.test' };
  const calls: readonly (readonly [Promise<unknown>, string])[] = [
    [client.getDeliveryStatistics(), 'GET /deliveryStats'],
    [client.getBounceDump(1), 'GET /bounces/1/dump'],
    [client.activateBounce(1), 'PUT /bounces/1/activate'],
    [client.deleteTemplate('a'), 'DELETE /templates/a'],
    [client.createTemplate({ Name: 'a' }), 'POST /templates/'],
    [client.editTemplate('a', { Name: 'a' }), 'PUT /templates/a'],
    [client.validateTemplate({ Subject: 'a' }), 'POST /templates/validate'],
    [client.getServer(), 'GET /server'],
    [client.editServer({ Name: 'a' }), 'PUT /server'],
    [client.getOutboundMessageDump('a'), 'GET /messages/outbound/a/dump'],
    [client.getInboundMessages(), 'GET /messages/inbound'],
    [client.getInboundMessageDetails('a'), 'GET /messages/inbound/a/details'],
    [client.bypassBlockedInboundMessage('a'), 'PUT /messages/inbound/a/bypass'],
    [client.retryInboundHookForMessage('a'), 'PUT /messages/inbound/a/retry'],
    [client.getMessageOpens(), 'GET /messages/outbound/opens'],
    [client.getMessageOpensForSingleMessage('a'), 'GET /messages/outbound/opens/a'],
    [client.getMessageClicks(), 'GET /messages/outbound/clicks'],
    [client.getMessageClicksForSingleMessage('a'), 'GET /messages/outbound/clicks/a'],
    [client.getSentCounts(), 'GET /stats/outbound/sends'],
    [client.getBounceCounts(), 'GET /stats/outbound/bounces'],
    [client.getSpamComplaintsCounts(), 'GET /stats/outbound/spam'],
    [client.getTrackedEmailCounts(), 'GET /stats/outbound/tracked'],
    [client.getEmailOpenCounts(), 'GET /stats/outbound/opens'],
    [client.getEmailOpenPlatformUsage(), 'GET /stats/outbound/opens/platforms'],
    [client.getEmailOpenClientUsage(), 'GET /stats/outbound/opens/emailClients'],
    [client.getEmailOpenReadTimes(), 'GET /stats/outbound/opens/readTimes'],
    [client.getClickCounts(), 'GET /stats/outbound/clicks'],
    [client.getClickBrowserUsage(), 'GET /stats/outbound/clicks/browserFamilies'],
    [client.getClickPlatformUsage(), 'GET /stats/outbound/clicks/platforms'],
    [client.getClickLocation(), 'GET /stats/outbound/clicks/location'],
    [client.createInboundRuleTrigger({ Rule: 'a.test' }), 'POST /triggers/inboundRules'],
    [client.deleteInboundRuleTrigger(1), 'DELETE /triggers/inboundRules/1'],
    [client.getInboundRuleTriggers(), 'GET /triggers/inboundRules'],
    [client.getWebhooks(), 'GET /webhooks'],
    [client.getWebhook(1), 'GET /webhooks/1'],
    [client.createWebhook({ Url: 'https://a.test' }), 'POST /webhooks'],
    [client.editWebhook(1, { Url: 'https://a.test' }), 'PUT /webhooks/1'],
    [client.deleteWebhook(1), 'DELETE /webhooks/1'],
    [client.getMessageStreams(), 'GET /message-streams'],
    [client.getMessageStream('outbound'), 'GET /message-streams/outbound'],
    [client.editMessageStream('a', { Name: 'a' }), 'PATCH /message-streams/a'],
    [
      client.createMessageStream({ ID: 'a', Name: 'a', MessageStreamType: 'Broadcasts' }),
      'POST /message-streams',
    ],
    [client.archiveMessageStream('a'), 'POST /message-streams/a/archive'],
    [client.unarchiveMessageStream('a'), 'POST /message-streams/a/unarchive'],
    [client.getBulkEmailStatus('a'), 'GET /email/bulk/a'],
    [client.sendBulkEmail({ ...email, Messages: [] } as never), 'POST /email/bulk'],
  ];
  await Promise.all(
    calls.map(async ([call, name]) => {
      const error = await errorOf(call, postmark.Errors.PostmarkError);
      assert.deepEqual([error.statusCode, error.code], [404, 404], name);
      assert.equal(error.message, `${name} isn’t supported by Signalpost.`);
    }),
  );
});

test('large attachments arrive whole, alone, from a template and in a batch', async () => {
  const file = Buffer.alloc(400_000, 'A file. ');
  const Attachments = [
    { Name: 'a.txt', Content: file.toString('base64'), ContentType: 'text/plain', ContentID: null },
  ];
  const email = { From, Subject: 'Large', TextBody: 'Large', Attachments };
  const model = { TemplateAlias: 't-0001', TemplateModel: { 'Order Number': 'A' }, Attachments };
  await client.sendEmail({ ...email, To: 'alone@large.test' });
  await client.sendEmailWithTemplate({ ...model, From, To: 'template@large.test' });
  const batch = await client.sendEmailBatch([
    { ...email, To: 'one@large.test' },
    { ...email, To: 'two@large.test' },
  ]);
  assert.deepEqual(
    batch.map(({ ErrorCode }) => ErrorCode),
    [0, 0],
  );
  const templated = await client.sendEmailBatchWithTemplates([
    { ...model, From, To: 'three@large.test' },
  ]);
  assert.equal(templated[0]?.ErrorCode, 0);
  for (const name of ['alone', 'template', 'one', 'two', 'three']) {
    const mail = readSentMail((await mailTo(`${name}@large.test`)).source);
    assert.ok(mail.files[0]?.content.equals(file), name);
  }
});
