import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import * as version1 from '@aws-sdk/client-ses';
import * as version2 from '@aws-sdk/client-sesv2';
import { createTransport } from 'nodemailer';
import { removeApiKey } from '../../src/accounts/access/api-key-store.ts';
import { ses as dropIn } from '../../src/drop-in/ses/ses.ts';
import { addKey, addSigningKey } from '../../test/support/api-key.ts';
import { type CapturedMail, readInbox } from '../../test/support/inbox-client.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { addSender } from '../../test/support/shop.ts';
import { testKey } from '../../test/support/test-service.ts';
import { openTestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { SESv2Client, SendEmailCommand } = version2;
const { database, service, shop } = await openTestShop({
  environment: { DROP_IN_HOSTS: 'localhost=ses' },
});
await addSender(database, shop.id, 'onboarding@shop.test', { displayNames: ['*'] });
await addSender(database, shop.id, 'help@shop.test');
await addSender(database, shop.id, 'sales@shop.test');
const credentials = await addSigningKey(database, testKey, shop.id, { scopes: dropIn.scopes });
const endpoint = `${service.url}/ses`;
const settings = { region: 'eu-central-1', endpoint, credentials };
const client = new SESv2Client(settings);
const client1 = new version1.SESClient(settings);

async function mailTo(address: string): Promise<CapturedMail> {
  const [mail] = await readInbox(service.url, `?to=${address}&wait=60`);
  assert.ok(mail, address);
  return mail;
}

/** The tag and the attributes of a message. */
async function stored(id: string | undefined): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    "select tag, content -> 'attributes' as attributes from message where id = $1",
    [id],
  );
  return [rows[0].tag, rows[0].attributes];
}

/** Status, name and message of the error that the SDK throws. */
async function errorOf(
  sent: Promise<unknown>,
): Promise<readonly [number | undefined, string, string]> {
  let given: unknown;
  try {
    given = await sent;
  } catch (error) {
    if (
      !(
        error instanceof version2.SESv2ServiceException ||
        error instanceof version1.SESServiceException
      )
    )
      throw error;
    assert.match(error.$metadata.requestId ?? '', /^[0-9a-f-]{36}$/);
    return [error.$metadata.httpStatusCode, error.name, error.message];
  }
  throw new Error(`it was answered: ${JSON.stringify(given)}`);
}

const from = 'Acme <onboarding@shop.test>';
const text = (Data: string) => ({ Data, Charset: 'UTF-8' });
const simple = (to: string, Subject = 'Hello') => ({
  FromEmailAddress: from,
  Destination: { ToAddresses: [to] },
  Content: { Simple: { Subject: text(Subject), Body: { Text: text('Hello') } } },
});

test('SendEmail of version 2 sends what was asked, part by part, and gives its tags back', async () => {
  const pdf = Buffer.from('%PDF-1.7\nInvoice');
  const logo = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');
  const { MessageId, $metadata } = await client.send(
    new SendEmailCommand({
      FromEmailAddress: 'Ünï Cödé <onboarding@shop.test>',
      Destination: {
        ToAddresses: ['ada@ses.test', 'Bob <bob@ses.test>'],
        CcAddresses: ['cc@ses.test'],
        BccAddresses: ['bcc@ses.test'],
      },
      ReplyToAddresses: ['help@shop.test', 'Sales <sales@shop.test>'],
      Content: {
        Simple: {
          Subject: text('It {{works}}'),
          Body: {
            Html: text('<p>Hello <a href="https://shop.test/a">world</a></p><img src="cid:logo">'),
            Text: text('Hello ✓'),
          },
          Headers: [{ Name: 'X-Entity-Ref-ID', Value: '123' }],
          Attachments: [
            { FileName: 'invoice.pdf', RawContent: pdf },
            {
              FileName: 'logo.png',
              RawContent: logo,
              ContentId: 'logo',
              ContentDisposition: 'INLINE',
              ContentType: 'image/png',
            },
          ],
        },
      },
      EmailTags: [{ Name: 'category', Value: 'confirm_email' }],
      ConfigurationSetName: 'welcome',
    }),
  );
  assert.match($metadata.requestId ?? '', /^[0-9a-f-]{36}$/);
  for (const address of ['ada', 'bob', 'cc', 'bcc']) {
    const { source, envelopeTo } = await mailTo(`${address}@ses.test`);
    assert.deepEqual(envelopeTo, [`${address}@ses.test`]);
    const mail = readSentMail(source);
    assert.equal(mail.decoded('from'), 'Ünï Cödé <onboarding@shop.test>');
    assert.equal(mail.decoded('to'), 'ada@ses.test, Bob <bob@ses.test>');
    assert.equal(mail.decoded('cc'), 'cc@ses.test');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test, Sales <sales@shop.test>');
    assert.equal(mail.subject, 'It {{works}}');
    assert.equal(
      mail.html?.trimEnd(),
      '<p>Hello <a href="https://shop.test/a">world</a></p><img src="cid:logo">',
    );
    assert.equal(mail.text?.trimEnd(), 'Hello ✓');
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
    assert.doesNotMatch(source, /bcc@ses/);
  }
  assert.deepEqual(await stored(MessageId), ['welcome', { category: 'confirm_email' }]);
});

test('SendEmail with Raw sends the message as it is, to its own recipients or those asked for', async () => {
  const message = [
    'From: Acme <onboarding@shop.test>',
    'To: Raw One <raw1@ses.test>, raw2@ses.test',
    'Bcc: raw3@ses.test',
    'Subject: =?utf-8?q?R=C3=A4w?=',
    'X-SES-CONFIGURATION-SET: raw-set',
    'X-SES-MESSAGE-TAGS: order=A-1, kind=raw',
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<p>As it is</p>',
    '',
  ].join('\n');
  const Data = Buffer.from(message);
  const { MessageId } = await client.send(new SendEmailCommand({ Content: { Raw: { Data } } }));
  for (const name of ['raw1', 'raw2', 'raw3']) {
    const { source } = await mailTo(`${name}@ses.test`);
    const mail = readSentMail(source);
    assert.equal(mail.subject, 'Räw');
    assert.equal(mail.decoded('to'), 'Raw One <raw1@ses.test>, raw2@ses.test');
    assert.equal(mail.html?.trimEnd(), '<p>As it is</p>');
    assert.doesNotMatch(source, /^(?:bcc|x-ses-|received: from unknown)/im);
  }
  assert.deepEqual(await stored(MessageId), ['raw-set', { order: 'A-1', kind: 'raw' }]);
  await client.send(
    new SendEmailCommand({
      FromEmailAddress: 'onboarding@shop.test',
      Destination: { ToAddresses: ['raw4@ses.test'], BccAddresses: ['Hidden <raw5@ses.test>'] },
      Content: { Raw: { Data } },
      EmailTags: [{ Name: 'order', Value: 'A-2' }],
    }),
  );
  for (const name of ['raw4', 'raw5']) await mailTo(`${name}@ses.test`);
  assert.equal((await readInbox(service.url, '?to=raw1@ses.test')).length, 1);
  const refused: readonly (readonly [Partial<version2.SendEmailCommandInput>, RegExp])[] = [
    [{ FromEmailAddress: 'help@shop.test' }, /^FromEmailAddress must be the From of the message/],
    [{ ReplyToAddresses: ['help@shop.test'] }, /^ReplyToAddresses can’t be used with Raw/],
    [
      {
        Content: {
          Raw: { Data: Buffer.from(message.replace('SES-MESSAGE-TAGS', 'SES-SOURCE-ARN')) },
        },
      },
      /^X-ses-source-arn isn’t supported/,
    ],
    [
      { Content: { Raw: { Data: Buffer.from(`X-Signalpost-Template: t\n${message}`) } } },
      /^X-Signalpost-Template can’t be used here/,
    ],
    [
      { Content: { Raw: { Data: Buffer.from('no message') } } },
      /^Header has a line that is no field/,
    ],
    [
      { Content: { Raw: { Data: Buffer.from(message.replaceAll('\n', '\r')) } } },
      /^Content\.Raw\.Data has a bare CR/,
    ],
    [
      { Content: { Raw: { Data: Buffer.from(message.replace('onboarding@', 'stranger@')) } } },
      /is not a verified sender/,
    ],
    [
      { Content: { Raw: { Data: Buffer.from(message.replace(/^(To|Bcc).*\n/gm, '')) } } },
      /^Destination is required/,
    ],
  ];
  for (const [change, pattern] of refused) {
    const [status, , reason] = await errorOf(
      client.send(new SendEmailCommand({ Content: { Raw: { Data } }, ...change })),
    );
    assert.equal(status, 400);
    assert.match(reason, pattern);
  }
});

test('SendEmail with Template sends a stored template by its name, or one of the request', async () => {
  const { MessageId } = await client.send(
    new SendEmailCommand({
      FromEmailAddress: 'Demo Shop <orders@shop.test>',
      Destination: { ToAddresses: ['Ada <template@ses.test>'] },
      Content: {
        Template: {
          TemplateName: 't-0001',
          TemplateData: JSON.stringify({ 'Order Number': 1001, 'First Name': 'Ada' }),
        },
      },
    }),
  );
  assert.ok(MessageId);
  const mail = readSentMail((await mailTo('template@ses.test')).source);
  assert.equal(mail.subject, 'Your order 1001');
  assert.match(mail.html ?? '', /Hello Ada, your order is 1001/);
  assert.equal(mail.decoded('to'), 'Ada <template@ses.test>');
  const own = (TemplateData: string) =>
    client.send(
      new SendEmailCommand({
        ...simple('own@ses.test'),
        Content: {
          Template: {
            TemplateContent: {
              Subject: 'Hi {{name}}',
              Html: '<p>Hi {{name}}</p>',
              Text: 'Hi {{name}}',
            },
            TemplateData,
          },
        },
      }),
    );
  await own('{"name":"<Ada>"}');
  const filled = readSentMail((await mailTo('own@ses.test')).source);
  assert.deepEqual(
    [filled.subject, filled.html?.trimEnd(), filled.text?.trimEnd()],
    ['Hi <Ada>', '<p>Hi &lt;Ada&gt;</p>', 'Hi <Ada>'],
  );
  assert.deepEqual(await errorOf(own('{}')), [
    400,
    'BadRequestException',
    'Content.Template.TemplateData.name has no value.',
  ]);
  assert.match(
    (await errorOf(own('[]')))[2],
    /^Content\.Template\.TemplateData must be a JSON object/,
  );
  const named = (TemplateName: string, ToAddresses: string[]) =>
    client.send(
      new SendEmailCommand({
        ...simple(''),
        Destination: { ToAddresses },
        Content: { Template: { TemplateName, TemplateData: '{}' } },
      }),
    );
  assert.deepEqual((await errorOf(named('no', ['a@ses.test']))).slice(0, 2), [
    404,
    'NotFoundException',
  ]);
  assert.match(
    (await errorOf(named('t-0001', ['a@ses.test', 'b@ses.test'])))[2],
    /^Destination\.ToAddresses must have one address/,
  );
});

test('version 1 sends from its content, a complete message and a template', async () => {
  const sent = await client1.send(
    new version1.SendEmailCommand({
      Source: from,
      Destination: {
        ToAddresses: ['v1@ses.test'],
        CcAddresses: ['v1cc@ses.test'],
        BccAddresses: [],
      },
      ReplyToAddresses: ['help@shop.test'],
      Message: {
        Subject: text('Vérsion & <1>'),
        Body: { Html: text('<p>a+b = 100%</p>'), Text: text('a+b = 100%') },
      },
      Tags: [{ Name: 'order', Value: 'A-1' }],
      ConfigurationSetName: 'v1',
    }),
  );
  assert.match(sent.$metadata.requestId ?? '', /^[0-9a-f-]{36}$/);
  for (const name of ['v1', 'v1cc']) {
    const mail = readSentMail((await mailTo(`${name}@ses.test`)).source);
    assert.equal(mail.decoded('from'), from);
    assert.equal(mail.decoded('to'), 'v1@ses.test');
    assert.equal(mail.decoded('cc'), 'v1cc@ses.test');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test');
    assert.deepEqual(
      [mail.subject, mail.html?.trimEnd(), mail.text?.trimEnd()],
      ['Vérsion & <1>', '<p>a+b = 100%</p>', 'a+b = 100%'],
    );
  }
  assert.deepEqual(await stored(sent.MessageId), ['v1', { order: 'A-1' }]);
  const attachment = Buffer.alloc(600_000, '%PDF-1.7\n')
    .toString('base64')
    .replaceAll(/.{76}/g, '$&\r\n');
  const Data = Buffer.from(
    `From: onboarding@shop.test\r\nTo: v1raw@ses.test\r\nSubject: Raw\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${attachment}\r\n`,
  );
  await client1.send(
    new version1.SendRawEmailCommand({
      RawMessage: { Data },
      Source: 'onboarding@shop.test',
      Destinations: ['v1raw2@ses.test'],
    }),
  );
  const raw = readSentMail((await mailTo('v1raw2@ses.test')).source);
  assert.equal(raw.subject, 'Raw');
  assert.deepEqual(
    raw.files.map(({ content }) => content.length),
    [600_000],
  );
  await client1.send(
    new version1.SendTemplatedEmailCommand({
      Source: 'orders@shop.test',
      Destination: { ToAddresses: ['v1template@ses.test'] },
      Template: 't-0001',
      TemplateData: '{"Order Number":"1 & 2"}',
    }),
  );
  assert.equal(
    readSentMail((await mailTo('v1template@ses.test')).source).subject,
    'Your order 1 & 2',
  );
  const email = {
    Source: from,
    Destination: { ToAddresses: ['x@ses.test'] },
    Message: { Subject: text('x'), Body: { Text: text('x') } },
  };
  const send1 = (more: object) =>
    errorOf(client1.send(new version1.SendEmailCommand({ ...email, ...more })));
  assert.deepEqual(await send1({ ReturnPath: 'a@b.test' }), [
    400,
    'InvalidParameterValue',
    'ReturnPath isn’t supported, because bounces come back to Signalpost; read them in webhooks.',
  ]);
  assert.deepEqual(await send1({ Source: '<a&b@other.test>' }), [
    400,
    'MessageRejected',
    'Source is not a verified sender of this account.',
  ]);
  assert.match((await send1({ Message: { Subject: text('x'), Body: {} } }))[2], /^Message needs/);
  assert.match(
    (
      await send1({
        Message: { Subject: { Data: 'x', Charset: 'ISO-8859-1' }, Body: { Text: text('x') } },
      })
    )[2],
    /^Message\.Subject\.Charset must/,
  );
  assert.match((await send1({ Tags: [{ Name: 'n'.repeat(41), Value: 'v' }] }))[2], /^Tags/);
  const template = {
    Source: from,
    Destination: email.Destination,
    Template: 'no',
    TemplateData: '{}',
  };
  assert.deepEqual(
    (await errorOf(client1.send(new version1.SendTemplatedEmailCommand(template)))).slice(0, 2),
    [404, 'TemplateDoesNotExistException'],
  );
});

test('a message of several MiB is sent in both versions', async () => {
  const content = Buffer.alloc(4 * 1_048_576, '%PDF-1.7 ');
  const Attachments = [{ FileName: 'a.pdf', RawContent: content }];
  await client.send(
    new SendEmailCommand({
      ...simple('large@ses.test'),
      Content: { Simple: { ...simple('').Content.Simple, Attachments } },
    }),
  );
  const mail = readSentMail((await mailTo('large@ses.test')).source);
  assert.deepEqual(mail.files[0]?.content, content);
  const body = content.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
  const Data = Buffer.from(
    `From: onboarding@shop.test\r\nTo: large1@ses.test\r\nSubject: Raw\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${body}\r\n`,
  );
  await client1.send(new version1.SendRawEmailCommand({ RawMessage: { Data } }));
  await client.send(
    new SendEmailCommand({
      Content: { Raw: { Data: Buffer.from(Data.toString().replace('large1@', 'large2@')) } },
    }),
  );
  for (const name of ['large1', 'large2'])
    assert.deepEqual(
      readSentMail((await mailTo(`${name}@ses.test`)).source).files[0]?.content,
      content,
    );
  const tooLarge = { Raw: { Data: Buffer.alloc(40 * 1_048_576, 'x') } };
  const [status, name] = await errorOf(client.send(new SendEmailCommand({ Content: tooLarge })));
  assert.deepEqual([status, name], [400, 'BadRequestException']);
});

test('current Nodemailer sends through the SDK', async () => {
  const transport = createTransport({ SES: { sesClient: client, SendEmailCommand } });
  await transport.sendMail({
    from,
    to: 'Nodemailer <nodemailer@ses.test>',
    bcc: 'nodemailer-bcc@ses.test',
    subject: 'Nodemailer ✓',
    html: '<p>Hi</p>',
    text: 'Hi',
    attachments: [{ filename: 'a.txt', content: 'attached' }],
    ses: { EmailTags: [{ Name: 'tag_name', Value: 'tag_value' }] },
  });
  for (const name of ['nodemailer', 'nodemailer-bcc']) {
    const { source } = await mailTo(`${name}@ses.test`);
    const mail = readSentMail(source);
    assert.deepEqual(
      [mail.subject, mail.html?.trimEnd(), mail.text?.trimEnd()],
      ['Nodemailer ✓', '<p>Hi</p>', 'Hi'],
    );
    assert.equal(mail.decoded('to'), 'Nodemailer <nodemailer@ses.test>');
    assert.equal(mail.files[0]?.content.toString(), 'attached');
    assert.doesNotMatch(source, /nodemailer-bcc/);
  }
});

const refusals: readonly (readonly [
  what: string,
  members: object,
  message: RegExp,
  name?: string,
])[] = [
  ['no sender', { FromEmailAddress: undefined }, /^FromEmailAddress is required\.$/],
  [
    'a sender that isn’t verified',
    { FromEmailAddress: 'a@other.test' },
    /^FromEmailAddress is not a verified sender of this account\.$/,
    'MessageRejected',
  ],
  ['a malformed sender', { FromEmailAddress: 'Acme' }, /^FromEmailAddress is not an address/],
  ['no recipient', { Destination: {} }, /^Destination is required\.$/],
  [
    'a malformed recipient',
    { Destination: { ToAddresses: ['a@b.test', 'nobody'] } },
    /^Destination\.ToAddresses\[1\] is not an address/,
  ],
  [
    'a reply address that isn’t verified',
    { ReplyToAddresses: ['a@other.test'] },
    /^ReplyToAddresses is not a verified/,
    'MessageRejected',
  ],
  ['no content', { Content: {} }, /^Content must have one of Simple, Raw and Template\.$/],
  [
    'no subject',
    { Content: { Simple: { Body: { Text: text('x') } } } },
    /^Content\.Simple\.Subject is required\.$/,
  ],
  [
    'neither HTML nor text',
    { Content: { Simple: { Subject: text('x'), Body: {} } } },
    /^Content needs/,
  ],
  [
    'another charset',
    { Content: { Simple: { Subject: { Data: 'x', Charset: 'ISO-2022-JP' }, Body: {} } } },
    /^Content\.Simple\.Subject\.Charset must/,
  ],
  [
    'a list of contacts',
    { ListManagementOptions: { ContactListName: 'l' } },
    /^ListManagementOptions isn’t supported/,
  ],
  [
    'an address for feedback',
    { FeedbackForwardingEmailAddress: 'a@b.test' },
    /^FeedbackForwardingEmailAddress isn’t supported/,
  ],
  [
    'another identity',
    { FromEmailAddressIdentityArn: 'arn:x' },
    /^FromEmailAddressIdentityArn isn’t supported/,
  ],
  ['a tenant', { TenantName: 't' }, /^TenantName isn’t supported/],
  ['a long tag', { EmailTags: [{ Name: 'a'.repeat(41), Value: 'b' }] }, /^EmailTags/],
  [
    'a tag twice',
    {
      EmailTags: [
        { Name: 'a', Value: 'b' },
        { Name: 'a', Value: 'c' },
      ],
    },
    /^EmailTags\[1\]\.Name is given twice\.$/,
  ],
  ['a long configuration set', { ConfigurationSetName: 'c'.repeat(49) }, /^ConfigurationSetName/],
  [
    'a suppressed recipient',
    { Destination: { ToAddresses: ['suppressed@simulator.test'] } },
    /^Destination\.ToAddresses is suppressed for this account/,
    'MessageRejected',
  ],
];

for (const [what, members, pattern, expected = 'BadRequestException'] of refusals)
  test(`an email with ${what} is refused in the form of SES, naming it`, async () => {
    const command = new SendEmailCommand({ ...simple('x@ses.test'), ...members });
    const [status, name, message] = await errorOf(client.send(command));
    assert.match(message, pattern);
    assert.deepEqual([status, name], [400, expected]);
  });

test('what parts of a message can’t be honored is refused by name', async () => {
  const part = (more: object) =>
    errorOf(
      client.send(
        new SendEmailCommand({
          ...simple('x@ses.test'),
          Content: { Simple: { ...simple('').Content.Simple, ...more } },
        }),
      ),
    );
  const file = { FileName: 'a.txt', RawContent: Buffer.from('a') };
  for (const [more, pattern] of [
    [
      { Headers: [{ Name: 'List-Unsubscribe', Value: '<https://a.test>' }] },
      /^Headers\.List-Unsubscribe is set by the service/,
    ],
    [
      {
        Headers: [
          { Name: 'X-A', Value: '1' },
          { Name: 'X-A', Value: '2' },
        ],
      },
      /^Content\.Simple\.Headers\[1\]\.Name is given twice/,
    ],
    [
      { Attachments: [{ ...file, ContentDescription: 'A' }] },
      /^Content\.Simple\.Attachments\[0\]\.ContentDescription isn’t supported/,
    ],
    [
      { Attachments: [{ ...file, ContentTransferEncoding: 'SEVEN_BIT' }] },
      /^Content\.Simple\.Attachments\[0\]\.ContentTransferEncoding must/,
    ],
    [
      { Attachments: [{ ...file, ContentDisposition: 'INLINE' }] },
      /^Content\.Simple\.Attachments\[0\]\.ContentDisposition is INLINE with/,
    ],
    [{ Attachments: [{ ...file, FileName: 'run.exe' }] }, /^Attachments\[0\]/],
  ] as const) {
    const [status, name, message] = await part(more);
    assert.deepEqual([status, name], [400, 'BadRequestException']);
    assert.match(message, pattern);
  }
});

/** Every command of an SDK. */
function commandsOf(sdk: object): [string, new (input: object) => never][] {
  return Object.entries(sdk).filter(([name]) => /^[A-Z]\w+Command$/.test(name));
}

/** Calls what isn’t supported, with a value for each parameter of its path. */
async function callUnsupported(
  send: (input: object) => Promise<unknown>,
): Promise<readonly [number | undefined, string, string]> {
  const input: Record<string, unknown> = {};
  for (;;)
    try {
      return await errorOf(send({ ...input }));
    } catch (error) {
      const [, name] = /label: (\w+)/.exec(String(error)) ?? [];
      if (name === undefined || name in input) throw error;
      input[name] = 'x';
    }
}

test('each other call of version 2 is answered in its form, naming it', async () => {
  const others = commandsOf(version2).filter(([name]) => name !== 'SendEmailCommand');
  assert.ok(others.length > 80, String(others.length));
  for (const [name, Command] of others) {
    const [status, code, message] = await callUnsupported((input) =>
      client.send(new Command(input)),
    );
    assert.deepEqual([status, code], [404, 'UnknownOperationException'], name);
    assert.match(
      message,
      /^(?:GET|POST|PUT|PATCH|DELETE) \/v2\/(?:email|tags)[\w/-]* isn’t supported by Signalpost\.$/,
      name,
    );
  }
});

test('each other action of version 1 is answered in its form, naming it', async () => {
  const sends = ['SendEmailCommand', 'SendRawEmailCommand', 'SendTemplatedEmailCommand'];
  const others = commandsOf(version1).filter(([name]) => !sends.includes(name));
  assert.ok(others.length > 60, String(others.length));
  for (const [name, Command] of others) {
    const answered = await callUnsupported((input) => client1.send(new Command(input)));
    const action = name.replace(/Command$/, '');
    assert.deepEqual(answered, [404, 'InvalidAction', `${action} isn’t supported by Signalpost.`]);
  }
});

const email = simple('x@ses.test');
const sendWith = (more: object, command = new SendEmailCommand(email)) =>
  errorOf(new SESv2Client({ ...settings, maxAttempts: 1, ...more }).send(command));
const send1With = (more: object) =>
  errorOf(
    new version1.SESClient({ ...settings, maxAttempts: 1, ...more }).send(
      new version1.SendRawEmailCommand({ RawMessage: { Data: Buffer.from('x') } }),
    ),
  );

test('ASVS 4.0.3 2.10.4, 4.1.3: only a live key with a secret and the permission can sign, in both versions', async () => {
  const { accessKeyId, secretAccessKey, id, text: bearer } = credentials;
  const plain = await addKey(database, shop.id, { scopes: dropIn.scopes });
  const { rows } = await database.pool.query('select id from api_key where signing_secret is null');
  const unsigned = `${shop.id}_${rows[0].id.replaceAll('-', '')}`;
  for (const wrong of [
    { accessKeyId, secretAccessKey: `${secretAccessKey.slice(0, -1)}_` },
    { accessKeyId, secretAccessKey: bearer },
  ]) {
    const [status, name, message] = await sendWith({ credentials: wrong });
    assert.deepEqual([status, name], [403, 'InvalidSignatureException']);
    assert.match(message, /^Signature doesn’t match/);
    assert.deepEqual((await send1With({ credentials: wrong })).slice(0, 2), [
      403,
      'SignatureDoesNotMatch',
    ]);
  }
  for (const unknown of [
    'AKIDEXAMPLE',
    id,
    bearer,
    plain,
    unsigned,
    accessKeyId.replace(shop.id, '46101'),
  ]) {
    const given = { credentials: { accessKeyId: unknown, secretAccessKey } };
    assert.deepEqual(
      (await sendWith(given)).slice(0, 2),
      [403, 'UnrecognizedClientException'],
      unknown,
    );
    assert.deepEqual((await send1With(given)).slice(0, 2), [403, 'InvalidClientTokenId']);
  }
  const session = { credentials: { ...credentials, sessionToken: 'token' } };
  assert.match((await sendWith(session))[2], /^Signature can’t have a session/);
  const reader = await addSigningKey(database, testKey, shop.id, {
    scopes: ['messages:read', 'suppressions:read'],
  });
  assert.deepEqual((await sendWith({ credentials: reader })).slice(0, 2), [
    403,
    'AccessDeniedException',
  ]);
  assert.deepEqual((await send1With({ credentials: reader })).slice(0, 2), [403, 'AccessDenied']);
  const templates = await addSigningKey(database, testKey, shop.id, {
    scopes: ['messages:send'],
    templates: ['t-0001'],
  });
  assert.deepEqual((await sendWith({ credentials: templates })).slice(0, 2), [
    403,
    'AccessDeniedException',
  ]);
  const elsewhere = await addSigningKey(database, testKey, shop.id, { networks: ['192.0.2.0/24'] });
  assert.deepEqual((await sendWith({ credentials: elsewhere })).slice(0, 2), [
    403,
    'AccessDeniedException',
  ]);
  const revoked = await addSigningKey(database, testKey, shop.id);
  const wrong = new SendEmailCommand({ ...email, FromEmailAddress: 'no' });
  assert.match((await sendWith({ credentials: revoked }, wrong))[2], /^FromEmailAddress/);
  await removeApiKey(database.kysely, shop.id, revoked.id);
  await waitFor(
    'the key to end',
    async () =>
      (await sendWith({ credentials: revoked }, wrong))[1] === 'UnrecognizedClientException',
    1_000,
  );
});

test('another account’s key can’t see or change anything of this one', async () => {
  await database.pool.query("insert into account (id, name) values ('46199', 'Other')");
  const stranger = await addSigningKey(database, testKey, '46199' as typeof shop.id);
  const theirs = new SESv2Client({ ...settings, credentials: stranger });
  assert.deepEqual((await errorOf(theirs.send(new SendEmailCommand(email)))).slice(0, 2), [
    400,
    'MessageRejected',
  ]);
});

/** The request that a client signs and sends. */
interface SdkRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: string;
}

/** Calls with what the SDK would send changed, before or after it is signed. */
function sendChanged(
  step: 'build' | 'signed',
  change: (request: SdkRequest) => void,
  sdk: Pick<InstanceType<typeof SESv2Client>, 'middlewareStack' | 'send'> = new SESv2Client({
    ...settings,
    maxAttempts: 1,
  }),
) {
  const edit = <Request>(given: Request): Request => {
    const request = given as SdkRequest;
    change(request);
    if (typeof request.body === 'string')
      request.headers['content-length'] = String(Buffer.byteLength(request.body));
    return given;
  };
  const { middlewareStack: stack } = sdk;
  if (step === 'build')
    stack.add((next) => (args) => next({ ...args, request: edit(args.request) }), {
      step,
      priority: 'low',
    });
  else
    stack.add((next) => (args) => next({ ...args, request: edit(args.request) }), {
      step: 'finalizeRequest',
      priority: 'low',
    });
  return errorOf(sdk.send(new SendEmailCommand(email)));
}

test('ASVS 4.0.3 2.10.4: what changes after it was signed is refused, and so is a signature that doesn’t cover enough', async () => {
  const changes: readonly (readonly [(request: SdkRequest) => void, RegExp])[] = [
    [
      (request) =>
        (request.body = new TextDecoder().decode(request.body as never).replace('Hello', 'Hullo')),
      /doesn’t match/,
    ],
    [
      (request) => (request.path = '/ses/v2/email//outbound-emails/'),
      /isn’t supported|doesn’t match/,
    ],
    [(request) => (request.query = { a: '1' }), /doesn’t match/],
    [(request) => (request.headers.host = 'other.test'), /doesn’t match/],
    [
      (request) => (request.headers['x-amz-target'] = 'x'),
      /must cover Host, X-Amz-Date and every other/,
    ],
    [
      (request) => (request.headers['x-amz-date'] = '20200101T000000Z'),
      /must be for the service ses, on the day/,
    ],
    [(request) => (request.headers.authorization = 'Bearer x'), /isn’t one of Signature Version 4/],
    [
      (request) =>
        (request.headers.authorization =
          request.headers.authorization?.replace(/.$/, (last) => (last === '0' ? '1' : '0')) ?? ''),
      /doesn’t match/,
    ],
  ];
  for (const [change, pattern] of changes) {
    const [status, name, message] = await sendChanged('signed', change);
    assert.match(message, pattern);
    if (name !== 'UnknownOperationException')
      assert.deepEqual([status, name], [403, 'InvalidSignatureException']);
  }
  const [, name] = await sendChanged('signed', (request) => delete request.headers.authorization);
  assert.equal(name, 'MissingAuthenticationTokenException');
  const unsigned = await sendChanged('build', (request) => {
    request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
  });
  assert.deepEqual(unsigned.slice(0, 2), [403, 'InvalidSignatureException']);
});

test('malformed bodies are refused in both forms', async () => {
  for (const [body, pattern] of [
    ['{', /^The body is not valid JSON\.$/],
    ['', /^The body is empty\.$/],
    ['[]', /^must be an object|^Must be an object/i],
    ['{"Content":5}', /^Content must be an object/],
    ['{"Content":{"Simple":[]}}', /^Content\.Simple must be an object/],
    ['{"EndpointId":"e"}', /^EndpointId isn’t supported, because Signalpost has no regions/],
    ['{"Priority":1,"Content":{"Simple":{}}}', /^Priority isn’t known to Signalpost; remove it/],
    ['{"__proto__":{"a":1}}', /isn’t known|Content must have one/],
  ] as const) {
    const [status, name, message] = await sendChanged('build', (request) => (request.body = body));
    assert.deepEqual([status, name], [400, 'BadRequestException'], body);
    assert.match(message, pattern);
  }
  for (const [body, code, pattern] of [
    ['', 'InvalidAction', /^The form has no Action\.$/],
    ['Action=%FF', 'InvalidParameterValue', /UTF-8/],
    ['Action.x=SendEmail', 'InvalidAction', /no Action/],
    ['Action=%3Cb%3E%26', 'InvalidAction', /^<b>& isn’t supported by Signalpost\.$/],
    ['Action=SendEmail&Source=a&Source=b', 'InvalidParameterValue', /"Source" twice/],
    ['Action=SendEmail&Priority=1', 'InvalidParameterValue', /^Priority isn’t known to Signalpost/],
    ['Action=SendEmail', 'InvalidParameterValue', /^Message\.Subject is required/],
    [
      'Action=SendRawEmail&RawMessage.Data=%%%',
      'InvalidParameterValue',
      /^RawMessage\.Data is not base64/,
    ],
    ['Action=SendTemplatedEmail', 'InvalidParameterValue', /^Template is required/],
  ] as const) {
    const sdk = new version1.SESClient({ ...settings, maxAttempts: 1 });
    const [, name, message] = await sendChanged(
      'build',
      (request) => {
        Object.assign(request, { path: '/ses/', method: 'POST', body });
        request.headers['content-type'] = 'application/x-www-form-urlencoded';
      },
      sdk as never,
    );
    assert.equal(name, code, body);
    assert.match(message, pattern);
  }
});

test('a call that the SDK repeats, because its answer got lost, sends once, whatever it sends', async () => {
  for (const [to, Content] of [
    ['once@ses.test', simple('').Content],
    [
      'once-raw@ses.test',
      { Raw: { Data: Buffer.from('From: onboarding@shop.test\r\nSubject: Raw\r\n\r\nRaw\r\n') } },
    ],
    [
      'once-template@ses.test',
      { Template: { TemplateName: 't-0001', TemplateData: '{"Order Number":"1"}' } },
    ],
  ] as const) {
    let attempts = 0;
    const { requestHandler } = client.config;
    const losing = {
      handle: async (request: never, options: never) => {
        const answered = await requestHandler.handle(request, options);
        attempts += 1;
        if (attempts === 1) throw Object.assign(new Error('lost'), { name: 'TimeoutError' });
        return answered;
      },
    };
    const sdk = new SESv2Client({ ...settings, requestHandler: losing as never });
    const { MessageId } = await sdk.send(new SendEmailCommand({ ...simple(to), Content }));
    assert.equal(attempts, 2);
    const { rows } = await database.pool.query(
      "select id from message where content ->> 'to' = $1",
      [to],
    );
    assert.deepEqual(rows, [{ id: MessageId }]);
  }
});

test('a client whose clock is wrong corrects it by the answer, and one that doesn’t is refused', async () => {
  for (const minutes of [-60, 60]) {
    const sdk = new SESv2Client({ ...settings, systemClockOffset: minutes * 60_000 });
    await sdk.send(new SendEmailCommand(simple('clock@ses.test')));
  }
  const [status, name, message] = await sendWith({ systemClockOffset: 6 * 60_000 });
  assert.deepEqual([status, name], [403, 'InvalidSignatureException']);
  assert.match(message, /within 5 minutes/);
});

test('a host of DROP_IN_HOSTS needs no prefix', async () => {
  const { port } = new URL(service.url);
  const host = { ...settings, endpoint: `http://localhost:${port}` };
  await new SESv2Client(host).send(new SendEmailCommand(simple('host2@ses.test')));
  const message = { Subject: text('x'), Body: { Text: text('x') } };
  const form = { Source: from, Destination: { ToAddresses: ['host1@ses.test'] }, Message: message };
  await new version1.SESClient(host).send(new version1.SendEmailCommand(form));
  for (const name of ['host1', 'host2']) await mailTo(`${name}@ses.test`);
});

const python = `
import boto3, json, sys
from botocore.exceptions import ClientError
v2, v1 = boto3.client("sesv2"), boto3.client("ses")
body = {"Text": {"Data": "Hello +/= ü"}}
sent = v2.send_email(FromEmailAddress="onboarding@shop.test", Destination={"ToAddresses": ["boto2@ses.test"]},
  Content={"Simple": {"Subject": {"Data": "Böto"}, "Body": body}}, EmailTags=[{"Name": "a", "Value": "b"}])
v1.send_email(Source="onboarding@shop.test", Destination={"ToAddresses": ["boto1@ses.test"]},
  Message={"Subject": {"Data": "Böto"}, "Body": body})
raw = b"From: onboarding@shop.test\\nTo: boto-raw@ses.test\\nSubject: Raw\\n\\n" + b"A line of text.\\n" * 40000
v1.send_raw_email(RawMessage={"Data": raw})
v1.send_templated_email(Source="orders@shop.test", Destination={"ToAddresses": ["boto-template@ses.test"]},
  Template="t-0001", TemplateData=json.dumps({"Order Number": "B-1"}))
errors = []
for call in (lambda: v2.create_contact_list(ContactListName="x"), lambda: v1.list_identities(),
    lambda: v2.send_email(FromEmailAddress="a@other.test", Destination={"ToAddresses": ["x@ses.test"]},
      Content={"Simple": {"Subject": {"Data": "x"}, "Body": body}})):
  try: call()
  except ClientError as error: errors.append(error.response["Error"]["Code"])
print(json.dumps({"id": sent["MessageId"], "errors": errors}))
`;

test('python3-boto3 sends and understands errors in both versions', async (context) => {
  const run = promisify(execFile);
  try {
    await run('python3', ['-c', 'import boto3'], { timeout: 60_000 });
  } catch {
    return context.skip('python3-boto3 isn’t installed');
  }
  const { stdout } = await run('python3', ['-c', python], {
    timeout: 120_000,
    env: {
      PATH: process.env.PATH,
      ...dropIn.environment(endpoint, credentials.text, credentials),
    },
  });
  const { id, ...answers } = JSON.parse(stdout);
  assert.deepEqual(answers, {
    errors: ['UnknownOperationException', 'InvalidAction', 'MessageRejected'],
  });
  assert.deepEqual(await stored(id), [null, { a: 'b' }]);
  for (const name of ['boto1', 'boto2']) {
    const mail = readSentMail((await mailTo(`${name}@ses.test`)).source);
    assert.deepEqual([mail.subject, mail.text?.trimEnd()], ['Böto', 'Hello +/= ü']);
  }
  const raw = readSentMail((await mailTo('boto-raw@ses.test')).source);
  assert.equal(raw.text?.split('\n').length, 40_001);
  const template = readSentMail((await mailTo('boto-template@ses.test')).source);
  assert.equal(template.subject, 'Your order B-1');
});
