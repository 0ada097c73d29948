import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { mailgun } from '../../src/drop-in/mailgun/mailgun.ts';
import { postmark } from '../../src/drop-in/postmark/postmark.ts';
import type { DropIn } from '../../src/drop-in/provider/drop-in.ts';
import { resend } from '../../src/drop-in/resend/resend.ts';
import { sendgrid } from '../../src/drop-in/sendgrid/sendgrid.ts';
import { addKey } from '../../test/support/api-key.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { addSender } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { openTestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startProviderHosts } from '../support/provider-hosts.ts';
import { installTools } from '../support/tools.ts';

/** Programs with a provider built in send through this service: unchanged, with a key and, if they have that setting, a host. */
const folderOf = await installTools();
const run = promisify(execFile);
const folder = temporaryFolder();
const hosts = {
  'api.resend.com': 'resend',
  'postmark.mail.test': 'postmark',
  'api.sendgrid.com': 'sendgrid',
};
const { database, service, shop } = await openTestShop({
  environment: {
    DROP_IN_HOSTS: Object.entries(hosts)
      .map((entry) => entry.join('='))
      .join(','),
  },
});
await addSender(database, shop.id, 'news@shop.test', { displayNames: ['*'] });
await addSender(database, shop.id, 'help@shop.test');
const { ca, environment } = await startProviderHosts(service.url, Object.keys(hosts));

/** The variables that a key of the provider prints. */
async function keyFor(dropIn: DropIn): Promise<Readonly<Record<string, string>>> {
  const key = await addKey(database, shop.id, { scopes: dropIn.scopes });
  return dropIn.environment(`${service.url}/${dropIn.name}`, key) as Record<string, string>;
}

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function runProgram(
  command: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Result> {
  const [program = '', ...args] = command;
  const env = { PATH: process.env.PATH, HOME: folder, ...environment, ...variables };
  return await run(program, args, { cwd: folder, env, maxBuffer: 10_000_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code, out: String(stdout), err: String(stderr) }),
  );
}

/** The newest first. */
async function mailsTo(address: string, count: number) {
  const mails = await waitFor(`the mail to ${address}`, async () => {
    const found = await readInbox(service.url, `?to=${address}&wait=60`);
    return found.length >= count && found;
  });
  return mails.map(({ source }) => ({ ...readSentMail(source), source }));
}

async function mailTo(address: string) {
  const [mail] = await mailsTo(address, 1);
  assert.ok(mail);
  return mail;
}

/** What the account sees of the message to an address. */
async function recordedOf(address: string) {
  const { rows } = await database.pool.query(
    `select tag, content -> 'attributes' as attributes from message where content ->> 'to' = $1`,
    [address],
  );
  return rows[0];
}

/** Its packages come from Debian. */
const python = '/usr/bin/python3';

const pdf = Buffer.from('%PDF-1.7\nInvoice');
const logo = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');
writeFileSync(join(folder, 'invoice.pdf'), pdf);
writeFileSync(join(folder, 'logo.png'), logo);

type Mail = Awaited<ReturnType<typeof mailTo>>;

const filesOf = ({ files }: Mail) =>
  files
    .map(({ filename, type, content }) => ({ filename, type, content }))
    .sort((one, other) => String(one.filename).localeCompare(String(other.filename)));

const payloadApp = `
import { readFileSync } from 'node:fs';
import { sqliteAdapter } from '@payloadcms/db-sqlite';
import { resendAdapter } from '@payloadcms/email-resend';
import { buildConfig, getPayload } from 'payload';
const payload = await getPayload({
  config: buildConfig({
    secret: 'a secret of the tests',
    serverURL: 'https://cms.shop.test',
    telemetry: false,
    db: sqliteAdapter({ client: { url: 'file:./payload.db' } }),
    collections: [{ slug: 'users', auth: { verify: true }, fields: [] }],
    email: resendAdapter({
      defaultFromAddress: 'news@shop.test',
      defaultFromName: 'Ünï Cödé',
      apiKey: process.env.RESEND_API_KEY,
    }),
  }),
});
const data = { email: 'ada@payload.test', password: 'the password of Ada' };
await payload.create({ collection: 'users', data });
console.log(await payload.forgotPassword({ collection: 'users', data }));
await payload.sendEmail({
  from: { name: 'Shop', address: 'news@shop.test' },
  to: ['bob@payload.test', { name: 'Carl', address: 'carl@payload.test' }],
  cc: 'cc@payload.test',
  bcc: 'bcc@payload.test',
  replyTo: 'help@shop.test',
  subject: 'It {{works}}',
  html: '<p>Hello äöü</p>',
  text: 'Hello',
  headers: { 'X-Entity-Ref-ID': '123' },
  attachments: [
    { filename: 'invoice.pdf', content: readFileSync('invoice.pdf') },
    { filename: 'logo.png', content: readFileSync('logo.png', 'base64') },
  ],
});
const refused = { from: 'stranger@elsewhere.test', to: 'x@payload.test', subject: 'No', text: 'No' };
await payload.sendEmail(refused).catch((error) => console.log(error.message));
process.exit(0);
`;

test('Payload, a content management system, sends through its adapter for Resend', async () => {
  symlinkSync(join(folderOf('payload'), '..'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'app.mjs'), payloadApp);
  const { code, out, err } = await runProgram([process.execPath, 'app.mjs'], await keyFor(resend));
  assert.equal(code, 0, err);
  const [token = '', refusal] = out.trim().split('\n').slice(-2);

  const [reset, welcome] = await mailsTo('ada@payload.test', 2);
  for (const mail of [welcome, reset]) {
    assert.equal(mail?.decoded('from'), 'Ünï Cödé <news@shop.test>');
    assert.equal(mail?.decoded('to'), 'ada@payload.test');
    assert.deepEqual(mail?.files, []);
  }
  assert.equal(welcome?.subject, 'Verify your email');
  assert.match(welcome?.html ?? '', /href="https:\/\/cms\.shop\.test\/admin\/users\/verify\/\w+"/);
  assert.equal(reset?.subject, 'Reset Your Password');
  assert.ok(
    reset?.html?.includes(`https://cms.shop.test/admin/reset/${token}`),
    reset?.html ?? 'no mail',
  );

  for (const name of ['bob', 'carl', 'cc', 'bcc']) {
    const mail = await mailTo(`${name}@payload.test`);
    assert.equal(mail.decoded('from'), 'Shop <news@shop.test>');
    assert.equal(mail.decoded('to'), 'bob@payload.test, carl@payload.test');
    assert.equal(mail.decoded('cc'), 'cc@payload.test');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test');
    assert.equal(mail.subject, 'It {{works}}');
    assert.equal(mail.html?.trimEnd(), '<p>Hello äöü</p>');
    assert.equal(mail.text?.trimEnd(), 'Hello');
    assert.equal(mail.fields.get('x-entity-ref-id'), '123');
    assert.deepEqual(filesOf(mail), [
      { filename: 'invoice.pdf', type: 'application/pdf', content: pdf },
      { filename: 'logo.png', type: 'image/png', content: logo },
    ]);
    assert.doesNotMatch(mail.source, /bcc@payload/);
  }
  assert.equal(
    refusal,
    'Error sending email: 403 validation_error - From is not a verified sender of this account.',
  );
});

const symfonyApp = `<?php
use Symfony\\Component\\Mailer\\Header\\{MetadataHeader, TagHeader};
use Symfony\\Component\\Mailer\\{Mailer, Transport};
use Symfony\\Component\\Mime\\{Address, Email};

foreach (['Mailer', 'Mailer/Bridge/Postmark', 'HttpClient'] as $component) {
    require "Symfony/Component/$component/autoload.php";
}
$mailer = new Mailer(Transport::fromDsn(getenv('MAILER_DSN')));
$email = (new Email())
    ->from(new Address('news@shop.test', 'Ünï Cödé'))
    ->to('ada@symfony.test', new Address('bob@symfony.test', 'Bob'))
    ->cc('cc@symfony.test')
    ->bcc('bcc@symfony.test')
    ->replyTo('help@shop.test')
    ->subject('It {{works}}')
    ->text('Hello')
    ->html('<p>Hello äöü <img src="cid:logo.png"></p>')
    ->attachFromPath('invoice.pdf')
    ->embedFromPath('logo.png', 'logo.png');
$email->getHeaders()->addTextHeader('X-Entity-Ref-ID', '123');
$email->getHeaders()->add(new TagHeader('welcome'));
$email->getHeaders()->add(new MetadataHeader('order', 'A-1001'));
$mailer->send($email);
$plain = (new Email())->from('news@shop.test')->to('plain@symfony.test')->subject('Plain')->text('Only');
$mailer->send($plain);
try {
    $mailer->send($plain->from('stranger@elsewhere.test'));
} catch (Exception $error) {
    echo $error->getMessage();
}
`;

test('Symfony Mailer sends through its bridge to Postmark', async () => {
  writeFileSync(join(folder, 'app.php'), symfonyApp);
  const { POSTMARK_SERVER_TOKEN } = await keyFor(postmark);
  const { code, out, err } = await runProgram(['php', '-d', `openssl.cafile=${ca}`, 'app.php'], {
    MAILER_DSN: `postmark+api://${POSTMARK_SERVER_TOKEN}@postmark.mail.test`,
  });
  assert.equal(code, 0, out + err);
  for (const name of ['ada', 'bob', 'cc', 'bcc']) {
    const mail = await mailTo(`${name}@symfony.test`);
    assert.equal(mail.decoded('from'), 'Ünï Cödé <news@shop.test>');
    assert.equal(mail.decoded('to'), 'ada@symfony.test, Bob <bob@symfony.test>');
    assert.equal(mail.decoded('cc'), 'cc@symfony.test');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test');
    assert.equal(mail.subject, 'It {{works}}');
    assert.equal(mail.html?.trimEnd(), '<p>Hello äöü <img src="cid:logo.png"></p>');
    assert.equal(mail.text?.trimEnd(), 'Hello');
    assert.equal(mail.fields.get('x-entity-ref-id'), '123');
    assert.deepEqual(filesOf(mail), [
      { filename: 'invoice.pdf', type: 'application/pdf', content: pdf },
      { filename: 'logo.png', type: 'image/png', content: logo },
    ]);
    assert.doesNotMatch(mail.source, /bcc@symfony/);
  }
  assert.deepEqual(await recordedOf('ada@symfony.test'), {
    tag: 'welcome',
    attributes: { order: 'A-1001' },
  });
  const plain = await mailTo('plain@symfony.test');
  assert.deepEqual([plain.text?.trimEnd(), plain.html, plain.files], ['Only', undefined, []]);
  assert.equal(
    out,
    'Unable to send an email: From is not a verified sender of this account. (code 400).',
  );
});

const anymailApp = `
import os
import django
from django.conf import settings
settings.configure(
    EMAIL_BACKEND="anymail.backends.mailgun.EmailBackend",
    INSTALLED_APPS=["anymail"],
    DEFAULT_FROM_EMAIL="Ünï Cödé <news@shop.test>",
    ANYMAIL={
        "MAILGUN_API_KEY": os.environ["MAILGUN_API_KEY"],
        "MAILGUN_API_URL": os.environ["MAILGUN_URL"] + "/v3",
    },
)
django.setup()
from anymail.exceptions import AnymailAPIError
from anymail.message import AnymailMessage, attach_inline_image_file
from django.core.mail import send_mail

message = AnymailMessage(
    "It {{works}}",
    "Hello",
    to=["ada@anymail.test", "Bob <bob@anymail.test>"],
    cc=["cc@anymail.test"],
    bcc=["bcc@anymail.test"],
    reply_to=["help@shop.test"],
    headers={"X-Entity-Ref-ID": "123"},
    tags=["welcome", "trial"],
    metadata={"order": "A-1001"},
    track_clicks=False,
)
cid = attach_inline_image_file(message, "logo.png", idstring="logo", domain="inline")
message.attach_alternative('<p>Hello äöü <img src="cid:%s"></p>' % cid, "text/html")
message.attach_file("invoice.pdf")
message.send()
print(cid)

batch = AnymailMessage(
    "Order %recipient.order%", "Hello %recipient.name%",
    to=["carl@anymail.test", "dora@anymail.test"],
    merge_data={"carl@anymail.test": {"name": "Carl"}, "dora@anymail.test": {"name": "Dora"}},
    merge_global_data={"order": "A-1001"},
)
batch.send()
try:
    send_mail("No", "No", "stranger@elsewhere.test", ["x@anymail.test"])
except AnymailAPIError as error:
    print(error)
`;

test('Django sends through Anymail’s backend for Mailgun', async () => {
  writeFileSync(join(folder, 'app.py'), anymailApp);
  const { code, out, err } = await runProgram([python, 'app.py'], await keyFor(mailgun));
  assert.equal(code, 0, err);
  const [contentId = '', ...refusal] = out.split('\n');
  for (const name of ['ada', 'bob', 'cc', 'bcc']) {
    const mail = await mailTo(`${name}@anymail.test`);
    assert.equal(mail.decoded('from'), 'Ünï Cödé <news@shop.test>');
    assert.equal(mail.decoded('to'), 'ada@anymail.test, Bob <bob@anymail.test>');
    assert.equal(mail.decoded('cc'), 'cc@anymail.test');
    assert.equal(mail.decoded('reply-to'), 'help@shop.test');
    assert.equal(mail.subject, 'It {{works}}');
    assert.equal(mail.html?.trimEnd(), `<p>Hello äöü <img src="cid:${contentId}"></p>`);
    assert.equal(mail.text?.trimEnd(), 'Hello');
    assert.equal(mail.fields.get('x-entity-ref-id'), '123');
    assert.deepEqual(filesOf(mail), [
      { filename: contentId, type: 'image/png', content: logo },
      { filename: 'invoice.pdf', type: 'application/pdf', content: pdf },
    ]);
    assert.doesNotMatch(mail.source, /bcc@anymail/);
  }
  assert.deepEqual(await recordedOf('ada@anymail.test'), {
    tag: 'welcome',
    attributes: { order: 'A-1001', 'tag-2': 'trial' },
  });
  for (const name of ['Carl', 'Dora']) {
    const mail = await mailTo(`${name.toLowerCase()}@anymail.test`);
    assert.equal(mail.decoded('to'), `${name.toLowerCase()}@anymail.test`);
    assert.deepEqual([mail.subject, mail.text?.trimEnd()], ['Order A-1001', `Hello ${name}`]);
  }
  assert.match(refusal.join('\n'), /403 \(Forbidden\):\n.*not a verified sender of this account/s);
});

test('Apprise, a notifier, sends through SendGrid', async () => {
  const { SENDGRID_API_KEY } = await keyFor(sendgrid);
  const notify = (from: string, to: string) => {
    const url = `sendgrid://${SENDGRID_API_KEY}:${from}/${to}?cc=cc@apprise.test&bcc=bcc@apprise.test`;
    const options = ['--title', 'It {{works}}', '--body', html, '--input-format', 'html', '-v'];
    return runProgram(['apprise', ...options, url], {});
  };
  const html = '<p>Hello äöü</p>';
  const sent = await notify('news@shop.test', 'ada@apprise.test');
  assert.equal(sent.code, 0, sent.out);
  for (const name of ['ada', 'cc', 'bcc']) {
    const mail = await mailTo(`${name}@apprise.test`);
    assert.equal(mail.decoded('from'), 'news@shop.test');
    assert.equal(mail.decoded('to'), 'ada@apprise.test');
    assert.equal(mail.decoded('cc'), 'cc@apprise.test');
    assert.equal(mail.subject, 'It {{works}}');
    assert.equal(mail.html?.trimEnd(), html);
    assert.deepEqual(mail.files, []);
    assert.doesNotMatch(mail.source, /bcc@apprise/);
  }
  const refused = await notify('stranger@elsewhere.test', 'x@apprise.test');
  assert.equal(refused.code, 1);
  assert.match(refused.out, /Failed to send SendGrid notification to x@apprise\.test: error=403/);
});
