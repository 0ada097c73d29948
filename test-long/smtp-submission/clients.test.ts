import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { createTransport } from 'nodemailer';
import { smtpSnippets } from '../../console/src/smtp/smtp-snippets.ts';
import { openDirectSubmission } from '../../test/support/direct-submission.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { startPostfix } from '../../test-system/support/start-postfix.ts';

const run = promisify(execFile);
const world = await openDirectSubmission('127.0.0.95', { address: '127.0.0.96', port: 0 });
const { port, key } = world;
const account = world.direct.shop.id;

const folder = mkdtempSync(join(tmpdir(), 'signalpost-clients-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const ca = write('ca.pem', world.authority.ca);

/** Everything that a client could change on the way. */
function messageTo(to: string): string {
  return [
    'From: Demo Shop <orders@shop.test>',
    `To: <${to}>`,
    'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
    'Date: Thu, 1 Jan 2026 10:00:00 +0000',
    `Message-ID: <${to}>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    'X-Folded: one',
    ' two',
    '',
    'Hello,',
    '..',
    '.dot',
    'trailing space=20',
    '',
    'Bye',
    '',
  ].join('\r\n');
}

/** The message arrived as it was sent, after fields that were added at its top, and DKIM passes. */
async function requireArrival(to: string): Promise<void> {
  const mail = await world.mailTo(to);
  assert.ok(mail.source.endsWith(messageTo(to)), mail.source);
  const added = mail.source.slice(0, -messageTo(to).length);
  assert.match(added, /^DKIM-Signature: /);
  assert.doesNotMatch(
    added.replaceAll(/\r\n[ \t]/g, ' '),
    /\r\n(?!DKIM-Signature|List-Unsub|Received|$)/,
  );
  assert.deepEqual(await world.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
}

test('swaks', async () => {
  const to = 'swaks@people.test';
  // It ends the message with a line break of its own.
  const data = write('swaks.eml', messageTo(to).slice(0, -2));
  await run('swaks', [
    ...['--server', '127.0.0.1', '--port', String(port), '--tls', '--auth', 'PLAIN'],
    ...['--auth-user', account, '--auth-password', key],
    ...['--from', 'app@shop.test', '--to', to, '--data', `@${data}`],
  ]);
  await requireArrival(to);
});

test('msmtp', async () => {
  const to = 'msmtp@people.test';
  const child = run('msmtp', ['-C', msmtpSettings(), to]);
  child.child.stdin?.end(messageTo(to).replaceAll('\r\n', '\n'));
  await child;
  await requireArrival(to);
});

function msmtpSettings(): string {
  const lines = [
    'defaults',
    'tls on',
    `tls_trust_file ${ca}`,
    'account signalpost',
    'host localhost',
    `port ${port}`,
    'auth plain',
    `user ${account}`,
    `password ${key}`,
    'from app@shop.test',
    'account default : signalpost',
    '',
  ];
  return write('msmtprc', lines.join('\n'));
}

test('PHP’s mail()', async () => {
  const to = 'php@people.test';
  const code = `mail('${to}', 'From PHP', "Hello\\n.dot\\n", 'From: orders@shop.test') || exit(1);`;
  await run('php', ['-d', `sendmail_path=msmtp -C ${msmtpSettings()} -t`, '-r', code]);
  const mail = await world.mailTo(to);
  assert.match(mail.source, /\r\nSubject: From PHP\r\n/);
  assert.match(mail.source, /\r\n\r\nHello\r\n\.dot\r\n(?:\r\n)?$/);
  assert.deepEqual(await world.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
});

/** A program of the console, with addresses of this test. */
function snippetOf(id: 'php' | 'python' | 'nodemailer', to: string): string {
  const facts = { host: 'localhost', port, secure: false, accountId: account, key };
  const found = smtpSnippets(facts).find((snippet) => snippet.id === id)?.parts[0]?.code ?? '';
  return found.replaceAll(recipient, to);
}

const recipient = 'ada@customer.example';

/** What the programs send. */
async function requireOrder(to: string): Promise<void> {
  const mail = await world.mailTo(to);
  assert.match(mail.source, /\r\nSubject: Your order\r\n/);
  assert.match(mail.source, /\r\nFrom: "?Demo Shop"? <orders@shop\.test>\r\n/);
  assert.match(mail.source, /\r\nThank you, Ada\.\r\n/);
  assert.deepEqual(await world.dkimOf(mail.bytes, mail.peer), ['pass', 'pass']);
}

const environment = { ...process.env, SIGNALPOST_API_KEY: key };

test('PHPMailer, with the program that the console shows', async () => {
  const to = 'phpmailer@people.test';
  mkdirSync(join(folder, 'vendor'));
  write('vendor/autoload.php', `<?php require '/usr/share/php/libphp-phpmailer/autoload.php';`);
  write('send.php', snippetOf('php', to));
  await run('php', ['-d', `openssl.cafile=${ca}`, 'send.php'], { cwd: folder, env: environment });
  await requireOrder(to);
});

test('Python, with the program that the console shows', async () => {
  const to = 'python-program@people.test';
  const path = write('send.py', snippetOf('python', to));
  await run('python3', [path], { env: { ...environment, SSL_CERT_FILE: ca } });
  await requireOrder(to);
});

test('Nodemailer, with the program that the console shows', async () => {
  const to = 'nodemailer-program@people.test';
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
  const path = write('send.mjs', snippetOf('nodemailer', to));
  await run(process.execPath, [path], { env: { ...environment, NODE_EXTRA_CA_CERTS: ca } });
  await requireOrder(to);
});

test('Python’s smtplib', async () => {
  const to = 'python@people.test';
  const data = write('python.eml', messageTo(to));
  const code = `
import smtplib, ssl
with smtplib.SMTP("localhost", ${port}) as smtp:
    smtp.starttls(context=ssl.create_default_context(cafile="${ca}"))
    smtp.login("${account}", "${key}")
    smtp.sendmail("app@shop.test", ["${to}"], open("${data}", "rb").read())
`;
  await run('python3', ['-c', code]);
  await requireArrival(to);
});

test('Nodemailer', async () => {
  const to = 'nodemailer@people.test';
  const transport = createTransport({
    host: 'localhost',
    port: world.tlsPort,
    secure: true,
    tls: { ca: world.authority.ca },
    auth: { user: account, pass: key },
  });
  await transport.sendMail({ envelope: { from: 'app@shop.test', to }, raw: messageTo(to) });
  transport.close();
  await requireArrival(to);
});

test('Postfix as smart host', async () => {
  const to = 'postfix@people.test';
  const password = write('relay', `[127.0.0.1]:${port} ${account}:${key}\n`);
  const listen = await freePort();
  await startPostfix({
    address: '127.0.0.1',
    port: listen,
    domain: 'local.test',
    certificate: new TestAuthority().issue(['localhost']),
    settings: [
      'mynetworks = 127.0.0.0/8',
      'smtpd_relay_restrictions = permit_mynetworks, reject',
      `relayhost = [127.0.0.1]:${port}`,
      'smtp_sasl_auth_enable = yes',
      `smtp_sasl_password_maps = texthash:${password}`,
      'smtp_sasl_security_options = noanonymous',
      'smtp_tls_security_level = encrypt',
    ],
    services: ['smtp unix - - n - - smtp', 'relay unix - - n - - smtp'],
  });
  const transport = createTransport({ host: '127.0.0.1', port: listen, ignoreTLS: true });
  await transport.sendMail({ envelope: { from: 'app@shop.test', to }, raw: messageTo(to) });
  transport.close();
  await requireArrival(to);
});
