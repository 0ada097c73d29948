interface SmtpFacts {
  readonly host: string;
  readonly port: number;
  /** TLS from the start, instead of STARTTLS. */
  readonly secure: boolean;
  readonly accountId: string;
  /** Undefined: a placeholder is shown. */
  readonly key: string | undefined;
}

interface SmtpSnippet {
  readonly id: 'postfix' | 'php' | 'python' | 'nodemailer' | 'laravel' | 'gitlab';
  readonly name: string;
  readonly parts: readonly SnippetPart[];
}

interface SnippetPart {
  /** The file that the text belongs in; undefined for commands. */
  readonly file?: string;
  readonly code: string;
}

/** How programs are set up to send over SMTP. docs/smtp.md has the same texts. */
export function smtpSnippets(facts: SmtpFacts): SmtpSnippet[] {
  return [
    { id: 'postfix', name: 'Postfix', parts: postfix(facts) },
    {
      id: 'php',
      name: 'PHPMailer',
      parts: [
        { file: 'send.php', code: phpMailer(facts) },
        { code: `composer require phpmailer/phpmailer\n${withKey(facts, 'php send.php')}` },
      ],
    },
    {
      id: 'python',
      name: 'Python',
      parts: [
        { file: 'send.py', code: python(facts) },
        { code: withKey(facts, 'python3 send.py') },
      ],
    },
    {
      id: 'nodemailer',
      name: 'Nodemailer',
      parts: [
        { file: 'send.mjs', code: nodemailer(facts) },
        { code: `npm install nodemailer\n${withKey(facts, 'node send.mjs')}` },
      ],
    },
    { id: 'laravel', name: 'Laravel', parts: [{ file: '.env', code: laravel(facts) }] },
    {
      id: 'gitlab',
      name: 'GitLab',
      parts: [{ file: '/etc/gitlab/gitlab.rb', code: gitLab(facts) }],
    },
  ];
}

function passwordOf({ accountId, key }: SmtpFacts): string {
  return key ?? `sp_${accountId}_…`;
}

/** A command that runs a program with the key in its environment. */
function withKey(facts: SmtpFacts, command: string): string {
  return `SIGNALPOST_API_KEY='${passwordOf(facts)}' ${command}\n`;
}

function postfix(facts: SmtpFacts): SnippetPart[] {
  const { host, port, secure, accountId } = facts;
  return [
    {
      file: '/etc/postfix/main.cf',
      code: `relayhost = [${host}]:${port}
smtp_sasl_auth_enable = yes
smtp_sasl_password_maps = hash:/etc/postfix/signalpost
smtp_sasl_security_options = noanonymous
smtp_tls_security_level = secure
smtp_tls_CAfile = /etc/ssl/certs/ca-certificates.crt
${secure ? 'smtp_tls_wrappermode = yes\n' : ''}`,
    },
    {
      file: '/etc/postfix/signalpost',
      code: `[${host}]:${port} ${accountId}:${passwordOf(facts)}\n`,
    },
    {
      code: `chmod 600 /etc/postfix/signalpost
postmap /etc/postfix/signalpost
postfix reload
`,
    },
  ];
}

function phpMailer({ host, port, secure, accountId }: SmtpFacts): string {
  return `<?php
use PHPMailer\\PHPMailer\\PHPMailer;
require 'vendor/autoload.php';

$mail = new PHPMailer(true);
$mail->isSMTP();
$mail->Host = '${host}';
$mail->Port = ${port};
$mail->SMTPSecure = PHPMailer::${secure ? 'ENCRYPTION_SMTPS' : 'ENCRYPTION_STARTTLS'};
$mail->SMTPAuth = true;
$mail->Username = '${accountId}';
$mail->Password = getenv('SIGNALPOST_API_KEY');
$mail->CharSet = PHPMailer::CHARSET_UTF8;
$mail->setFrom('orders@shop.test', 'Demo Shop');
$mail->addAddress('ada@customer.example');
$mail->Subject = 'Your order';
$mail->Body = 'Thank you, Ada.';
$mail->send();
`;
}

function python({ host, port, secure, accountId }: SmtpFacts): string {
  const open = secure
    ? `smtplib.SMTP_SSL("${host}", ${port}, context=ssl.create_default_context())`
    : `smtplib.SMTP("${host}", ${port})`;
  return `import os, smtplib, ssl
from email.message import EmailMessage

message = EmailMessage()
message["From"] = "Demo Shop <orders@shop.test>"
message["To"] = "ada@customer.example"
message["Subject"] = "Your order"
message.set_content("Thank you, Ada.")

with ${open} as smtp:
${secure ? '' : '    smtp.starttls(context=ssl.create_default_context())\n'}    smtp.login("${accountId}", os.environ["SIGNALPOST_API_KEY"])
    smtp.send_message(message)
`;
}

function nodemailer({ host, port, secure, accountId }: SmtpFacts): string {
  return `import { createTransport } from 'nodemailer';

const transport = createTransport({
  host: '${host}',
  port: ${port},
  ${secure ? 'secure: true' : 'requireTLS: true'},
  auth: { user: '${accountId}', pass: process.env.SIGNALPOST_API_KEY },
});
await transport.sendMail({
  from: 'Demo Shop <orders@shop.test>',
  to: 'ada@customer.example',
  subject: 'Your order',
  text: 'Thank you, Ada.',
});
`;
}

function laravel(facts: SmtpFacts): string {
  const { host, port, secure, accountId } = facts;
  return `MAIL_MAILER=smtp
MAIL_SCHEME=${secure ? 'smtps' : 'smtp'}
MAIL_HOST=${host}
MAIL_PORT=${port}
MAIL_USERNAME=${accountId}
MAIL_PASSWORD=${passwordOf(facts)}
MAIL_FROM_ADDRESS=orders@shop.test
`;
}

function gitLab(facts: SmtpFacts): string {
  const { host, port, secure, accountId } = facts;
  return `gitlab_rails['smtp_enable'] = true
gitlab_rails['smtp_address'] = '${host}'
gitlab_rails['smtp_port'] = ${port}
gitlab_rails['smtp_user_name'] = '${accountId}'
gitlab_rails['smtp_password'] = '${passwordOf(facts)}'
gitlab_rails['smtp_authentication'] = 'login'
${secure ? "gitlab_rails['smtp_tls'] = true" : "gitlab_rails['smtp_enable_starttls_auto'] = true"}
gitlab_rails['gitlab_email_from'] = 'orders@shop.test'
`;
}
