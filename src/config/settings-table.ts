/** A setting of the environment: its name, its default as documented, and what it means. */
export interface Setting {
  readonly name: string;
  readonly default: string;
  readonly meaning: string;
  /** It can come from the file that `NAME_FILE` names, too. */
  readonly secret?: true;
}

/** Every setting, from which docs/reference/settings.md and the README's table are generated. */
export const settingDefinitions: readonly Setting[] = [
  { name: 'HOST', default: '127.0.0.1', meaning: 'Address to listen on.' },
  {
    name: 'PORT',
    default: '3000',
    meaning: 'Port to listen on; `0` takes a free one and prints it.',
  },
  {
    name: 'PUBLIC_URL',
    default: 'http://HOST:PORT',
    meaning:
      'Public address of the service, for links in pages and mail. With `https`, answers carry HSTS.',
  },
  {
    name: 'ALLOW_INSECURE_PUBLIC_URL',
    default: '0',
    meaning:
      '`1` allows an `http://` `PUBLIC_URL` on another host. Passwords and tokens then travel unencrypted.',
  },
  {
    name: 'DATA_DIR',
    default: './data',
    meaning:
      'Folder of the embedded database, the key file and the secrets that the first start makes.',
  },
  {
    name: 'DATABASE_URL',
    default: '(embedded)',
    meaning: 'Your own PostgreSQL, 15 or later: `postgres://user:password@host:5432/name`.',
    secret: true,
  },
  {
    name: 'SIGNALPOST_KEY',
    default: '(key file)',
    meaning:
      '32 random bytes in base64 that protect stored secrets; without it a file in `DATA_DIR` is made and used.',
    secret: true,
  },
  {
    name: 'SIGNALPOST_KEY_PREVIOUS',
    default: '(none)',
    meaning: 'The other key while `SIGNALPOST_KEY` is rotated; see docs/operate/harden.md.',
    secret: true,
  },
  {
    name: 'DEMO',
    default: '(first start)',
    meaning: '`1` applies the demo manifest also on your own database, `0` never.',
  },
  {
    name: 'DELIVERY',
    default: '`inbox`, or `relay` with `SMTP_URL`',
    meaning:
      '`inbox` keeps mail in the local inbox, `relay` hands it to `SMTP_URL`, `direct` delivers to the recipients’ servers.',
  },
  {
    name: 'SMTP_URL',
    default: '(none)',
    meaning:
      'The relay: `smtp://user:password@host:587` or `smtps://…:465`; `?tls=required`, `optional`, `off`, `unverified`, `&connections=10`. Several with spaces between them: the next one where one is not there.',
    secret: true,
  },
  {
    name: 'SMTP_HOSTNAME',
    default: '(the machine’s)',
    meaning: 'Name that the service gives in EHLO and in Message-IDs without a sender domain.',
  },
  {
    name: 'DNS_SERVERS',
    default: '(the machine’s)',
    meaning:
      'Resolvers for MX records and checks of sending domains, separated by commas: `192.0.2.53,[2001:db8::53]:53`.',
  },
  {
    name: 'DIRECT_SOURCES',
    default: '(the system’s choice)',
    meaning:
      'With `direct`: addresses that mail leaves from, each with its EHLO name: `192.0.2.10=mail1.example.com,pool/192.0.2.11=mail2.example.com`.',
  },
  {
    name: 'DIRECT_PORT',
    default: '25',
    meaning: 'With `direct`: port of the recipients’ servers; another one is for tests.',
  },
  {
    name: 'DIRECT_LOOPBACK',
    default: '0',
    meaning: 'With `direct`: `1` lets mail go to this machine itself; for tests.',
  },
  {
    name: 'DELIVERY_NETWORKS',
    default: '(none)',
    meaning:
      'With `direct`: private networks such as `10.1.0.0/16`, separated by commas, where recipients’ servers can be.',
  },
  {
    name: 'DELIVERY_REDIRECT',
    default: '(none)',
    meaning: 'Sends every message to this one address instead; for staging.',
  },
  {
    name: 'DELIVERY_ALLOW',
    default: '(all)',
    meaning:
      'Delivers only to these domains, separated by commas, and holds the rest back visibly; for staging.',
  },
  {
    name: 'TRUST_PROXY',
    default: '(none)',
    meaning: 'Addresses or networks of proxies whose `X-Forwarded-*` count, separated by commas.',
  },
  {
    name: 'MAX_CONNECTIONS',
    default: '20000',
    meaning:
      'Max open HTTP connections of each process; fewer where `ulimit -n` is lower. At the limit, the connection that has been idle longest is closed.',
  },
  {
    name: 'MAX_CONNECTIONS_PER_PEER',
    default: '2000',
    meaning:
      'Max open connections from one IPv4 address or IPv6 /64. A reverse proxy has no such limit if `TRUST_PROXY` names it.',
  },
  {
    name: 'BOUNCE_PORT',
    default: '(none)',
    meaning:
      'Port at which bounces and complaints come in by SMTP: 25, where the MX of the return path domain leads.',
  },
  {
    name: 'BOUNCE_HOST',
    default: '0.0.0.0',
    meaning: 'Address to listen on for them.',
  },
  {
    name: 'BOUNCE_TLS_KEY, BOUNCE_TLS_CERT',
    default: '(none)',
    meaning: 'Files with key and certificate chain (PEM) for STARTTLS there.',
  },
  {
    name: 'INTAKE_SNS_TOPICS',
    default: '(none)',
    meaning: 'Topics (ARN, separated by commas) of Amazon SES reports to `/intake/ses`.',
  },
  {
    name: 'INTAKE_POSTMARK_PASSWORD',
    default: '(none)',
    meaning: 'Password (HTTP Basic) of Postmark’s webhooks to `/intake/postmark`.',
    secret: true,
  },
  {
    name: 'INTAKE_MAILGUN_KEY',
    default: '(none)',
    meaning: 'Signing key of Mailgun’s webhooks to `/intake/mailgun`.',
    secret: true,
  },
  {
    name: 'INTAKE_SENDGRID_KEY',
    default: '(none)',
    meaning: 'Verification key of SendGrid’s event webhook to `/intake/sendgrid`.',
    secret: true,
  },
  {
    name: 'WEBHOOK_NETWORKS',
    default: '(none)',
    meaning:
      'Private networks such as `10.1.0.0/16`, separated by commas, that webhooks can reach.',
  },
  {
    name: 'KEEP_READER_ADDRESSES',
    default: '0',
    meaning: '`1` keeps the whole network address of who opened or clicked, not just its network.',
  },
  {
    name: 'AUDIT_DAYS',
    default: '400',
    meaning: 'Days that entries of the audit log are kept; `0` keeps them for ever.',
  },
  {
    name: 'METRICS_PUBLIC',
    default: '0',
    meaning: '`1` opens `/metrics` to everyone, without a token.',
  },
  {
    name: 'METRICS_TOKEN',
    default: '(none)',
    meaning: 'Bearer token for `/metrics`. Without it, `/metrics` answers 401.',
    secret: true,
  },
  {
    name: 'INBOX_TOKEN',
    default: '(first start)',
    meaning:
      'Bearer token for programs that read the local inbox. Default: `start` makes one and keeps it in `demo.env` in `DATA_DIR`.',
    secret: true,
  },
  {
    name: 'SYSTEM_MAIL_FROM',
    default: '(none; with `inbox` a local address)',
    meaning:
      'Sender of password links, invitations, sender confirmations and security notices: `Name <address>`. Without it, none are sent.',
  },
  { name: 'LOG_LEVEL', default: 'info', meaning: '`debug`, `info`, `warn`, `error` or `silent`.' },
];

/** Settings that hold a secret. */
export const secretNames: readonly string[] = settingDefinitions
  .filter(({ secret }) => secret)
  .map(({ name }) => name);
