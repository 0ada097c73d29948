/** A setting in the environment: its name, documented default and meaning. */
export interface Setting {
  readonly name: string;
  readonly default: string;
  readonly meaning: string;
  /** Also accepts `NAME_FILE`, the name of a file that contains the value. */
  readonly secret?: true;
}

/** Every setting, in the order of the README's table, which is generated from this list. */
export const settingDefinitions: readonly Setting[] = [
  { name: 'HOST', default: '127.0.0.1', meaning: 'Address to listen on.' },
  {
    name: 'PORT',
    default: '3000',
    meaning: 'Port to listen on; `0` picks a free one and prints it.',
  },
  {
    name: 'PUBLIC_URL',
    default: 'http://HOST:PORT',
    meaning:
      'Public URL of the service, for links in pages and email. With `https`, responses carry HSTS.',
  },
  {
    name: 'ALLOW_INSECURE_PUBLIC_URL',
    default: '0',
    meaning:
      '`1` allows an `http://` `PUBLIC_URL` on another host. Passwords and tokens are then sent unencrypted.',
  },
  {
    name: 'DATA_DIR',
    default: './data',
    meaning:
      'Folder for the embedded database, the key file and the secrets that the first start generates.',
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
      '32 random bytes in base64 that protect stored secrets. Default: a key file in `DATA_DIR`, created on the first start.',
    secret: true,
  },
  {
    name: 'SIGNALPOST_KEY_PREVIOUS',
    default: '(none)',
    meaning: 'The other key while you rotate `SIGNALPOST_KEY`; see docs/hardening.md.',
    secret: true,
  },
  {
    name: 'DEMO',
    default: '(first start)',
    meaning: '`1` also applies the demo manifest to your own database, `0` never applies it.',
  },
  {
    name: 'DELIVERY',
    default: '`inbox`, or `relay` with `SMTP_URL`',
    meaning:
      '`inbox` keeps mail in the local inbox, `relay` sends it through `SMTP_URL`, `direct` delivers to the recipients’ servers.',
  },
  {
    name: 'SMTP_URL',
    default: '(none)',
    meaning:
      'The relay: `smtp://user:password@host:587` or `smtps://…:465`; `?tls=required`, `optional`, `off`, `unverified`, `&connections=10`. Separate several with spaces; the next one is used while one is unreachable.',
    secret: true,
  },
  {
    name: 'SMTP_HOSTNAME',
    default: '(the system’s)',
    meaning: 'Host name for EHLO and for Message-IDs without a sender domain.',
  },
  {
    name: 'DNS_SERVERS',
    default: '(the system’s)',
    meaning:
      'DNS resolvers for MX records and sending-domain checks, comma-separated: `192.0.2.53,[2001:db8::53]:53`.',
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
    meaning: 'With `direct`: port of the recipients’ servers; change it for tests only.',
  },
  {
    name: 'DIRECT_LOOPBACK',
    default: '0',
    meaning: 'With `direct`: `1` allows delivery to this machine itself; for tests.',
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
    meaning: 'Sends every message to this address instead; for staging.',
  },
  {
    name: 'DELIVERY_ALLOW',
    default: '(all)',
    meaning:
      'Delivers only to these domains, comma-separated, and visibly holds all other messages; for staging.',
  },
  {
    name: 'TRUST_PROXY',
    default: '(none)',
    meaning:
      'Addresses or networks of proxies whose `X-Forwarded-*` headers are trusted, comma-separated.',
  },
  {
    name: 'MAX_CONNECTIONS',
    default: '20000',
    meaning:
      'Max open HTTP connections per process; fewer if `ulimit -n` is lower. At the limit, the longest-idle connection is closed.',
  },
  {
    name: 'MAX_CONNECTIONS_PER_PEER',
    default: '2000',
    meaning:
      'Max open connections from one IPv4 address or IPv6 /64. Doesn’t apply to reverse proxies in `TRUST_PROXY`.',
  },
  {
    name: 'BOUNCE_PORT',
    default: '(none)',
    meaning:
      'SMTP port for incoming bounces and complaints: 25 if the MX record of the return-path domain points here.',
  },
  {
    name: 'BOUNCE_HOST',
    default: '0.0.0.0',
    meaning: 'Address to listen on for bounces and complaints.',
  },
  {
    name: 'BOUNCE_TLS_KEY, BOUNCE_TLS_CERT',
    default: '(none)',
    meaning: 'PEM files with the key and certificate chain for STARTTLS on that port.',
  },
  {
    name: 'INTAKE_SNS_TOPICS',
    default: '(none)',
    meaning: 'Topics (ARNs, comma-separated) of Amazon SES notifications to `/intake/ses`.',
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
    meaning: 'Private networks such as `10.1.0.0/16`, comma-separated, that webhooks can reach.',
  },
  {
    name: 'KEEP_READER_ADDRESSES',
    default: '0',
    meaning: '`1` stores the full IP address with opens and clicks, not just its network.',
  },
  {
    name: 'AUDIT_DAYS',
    default: '400',
    meaning: 'Days to keep audit log entries; `0` keeps them forever.',
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
      'Bearer token for programs that read the local inbox. Default: `start` generates one and stores it in `demo.env` in `DATA_DIR`.',
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
