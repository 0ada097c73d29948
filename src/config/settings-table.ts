/** An environment variable with its documented default and meaning. */
export interface Setting {
  readonly name: string;
  readonly default: string;
  readonly meaning: string;
  /** Can also be read from the file named by `NAME_FILE`. */
  readonly secret?: true;
}

/** All settings. docs/reference/settings.md and the README's table are generated from them. */
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
      'Public address of the service, for links in pages and mail. With `https`, responses include HSTS.',
  },
  {
    name: 'ALLOW_INSECURE_PUBLIC_URL',
    default: '0',
    meaning:
      '`1` allows an `http://` `PUBLIC_URL` on another host. Passwords and tokens then travel unencrypted.',
  },
  {
    name: 'TLS_CERT, TLS_KEY',
    default: '(none)',
    meaning:
      'Files with the certificate chain and its private key (PEM). `PORT` then serves HTTPS, with HTTP/1.1. Changed files are used within seconds.',
  },
  {
    name: 'DATA_DIR',
    default: './data',
    meaning:
      'Folder for the embedded database, the key file and the secrets that the first start creates.',
  },
  {
    name: 'DATABASE_URL',
    default: '(embedded)',
    meaning:
      'Your own PostgreSQL, 15 or later: `postgres://user:password@host:5432/name`. With several hosts (`host1:5432,host2:5432`), the one that accepts writes is used.',
    secret: true,
  },
  {
    name: 'SIGNALPOST_KEY',
    default: '(key file)',
    meaning:
      'Master key for stored secrets: 32 random bytes in base64. Without it, a key file in `DATA_DIR` is created and used.',
    secret: true,
  },
  {
    name: 'SIGNALPOST_KEY_PREVIOUS',
    default: '(none)',
    meaning: 'The old key while `SIGNALPOST_KEY` is rotated; see docs/operate/harden.md.',
    secret: true,
  },
  {
    name: 'DEMO',
    default: '(first start)',
    meaning: '`1` also sets up the demo on your own database; `0` never does.',
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
      'Relay: `smtp://user:password@host:587` or `smtps://…:465`, with `?tls=required`, `optional`, `off` or `unverified` and `&connections=10`. Separate several with spaces: if one is unreachable, the next one is used.',
    secret: true,
  },
  {
    name: 'SMTP_HOSTNAME',
    default: '(the machine’s)',
    meaning: 'Host name for EHLO, and for Message-IDs without a sender domain.',
  },
  {
    name: 'DNS_SERVERS',
    default: '(the machine’s)',
    meaning:
      'DNS resolvers for delivery, domain checks, webhooks and accounts’ sign-in providers, separated by commas: `192.0.2.53,[2001:db8::53]:53`.',
  },
  {
    name: 'DIRECT_SOURCES',
    default: '(the system’s choice)',
    meaning:
      'With `direct`: source addresses, each with its EHLO name: `192.0.2.10=mail1.example.com,pool/192.0.2.11=mail2.example.com`.',
  },
  {
    name: 'DIRECT_PORT',
    default: '25',
    meaning: 'With `direct`: port of the recipients’ servers. Change it for tests only.',
  },
  {
    name: 'DIRECT_LOOPBACK',
    default: '0',
    meaning: 'With `direct`: `1` allows delivery to this machine. For tests.',
  },
  {
    name: 'DELIVERY_NETWORKS',
    default: '(none)',
    meaning:
      'With `direct`: private networks of recipients’ servers, separated by commas: `10.1.0.0/16`.',
  },
  {
    name: 'DELIVERY_REDIRECT',
    default: '(none)',
    meaning: 'Sends every message to this address instead. For staging.',
  },
  {
    name: 'DELIVERY_ALLOW',
    default: '(all)',
    meaning:
      'Delivers only to these domains, separated by commas; other messages end as `canceled`. For staging.',
  },
  {
    name: 'REFUSED_HEADERS',
    default: '(none)',
    meaning:
      'More headers that requests can’t set, separated by commas: `X-Priority,X-Internal-*`. Some are always reserved; see docs/send-email.md.',
  },
  {
    name: 'TRUST_PROXY',
    default: '(none)',
    meaning:
      'Addresses or networks of trusted reverse proxies, separated by commas. `X-Forwarded-*` headers from other addresses are ignored.',
  },
  {
    name: 'DRAIN_SECONDS',
    default: '0',
    meaning:
      'Seconds to keep accepting after SIGTERM, up to 300. Meanwhile, `/readyz` returns 503, so load balancers choose another node.',
  },
  {
    name: 'CORS_ORIGINS',
    default: '(none)',
    meaning:
      'Origins whose web pages can call the API with a token or key, separated by commas: `https://app.example.com`. The browser’s session is never accepted from them.',
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
      'Max open connections from one IPv4 address or IPv6 /64; an IPv4 /24 or IPv6 /48 has four times as many. Doesn’t apply to proxies in `TRUST_PROXY`.',
  },
  {
    name: 'ATTACHMENT_LIMIT',
    default: '10 MiB',
    meaning:
      'Max size of a message with attachments as sent, in MiB, up to `25`; `0`: no attachments. Operators can set another limit per account.',
  },
  {
    name: 'ATTACHMENT_REFUSED_TYPES',
    default: '(executables)',
    meaning:
      'Attachments to refuse: extensions such as `.exe` and types such as `application/x-msdownload`, separated by commas. `default` adds the built-in list, `none` refuses no type.',
  },
  {
    name: 'BOUNCE_PORT',
    default: '(none)',
    meaning:
      'SMTP port for bounces, complaints and replies: 25 on the host that the return path’s MX record names.',
  },
  {
    name: 'BOUNCE_HOST',
    default: '0.0.0.0',
    meaning: 'Address to listen on for bounces, complaints and replies.',
  },
  {
    name: 'BOUNCE_TLS_KEY, BOUNCE_TLS_CERT',
    default: '(none)',
    meaning:
      'Files with the key and certificate chain (PEM) for STARTTLS on `BOUNCE_PORT`. Changed files are used within seconds.',
  },
  {
    name: 'SUBMISSION_PORT',
    default: '(none)',
    meaning: 'SMTP port for submission with STARTTLS, usually `587`. Needs a certificate.',
  },
  {
    name: 'SUBMISSION_TLS_PORT',
    default: '(none)',
    meaning: 'SMTP port for submission with TLS from the start, usually `465`.',
  },
  {
    name: 'SUBMISSION_HOST',
    default: '0.0.0.0',
    meaning: 'Address to listen on for submission.',
  },
  {
    name: 'SUBMISSION_TLS_CERT, SUBMISSION_TLS_KEY',
    default: 'TLS_CERT, TLS_KEY',
    meaning:
      'Files with the certificate chain and its private key (PEM) of the submission ports. Changed files are used within seconds.',
  },
  {
    name: 'INTAKE_SNS_TOPICS',
    default: '(none)',
    meaning:
      'SNS topics (ARN, separated by commas) whose Amazon SES reports `/intake/ses` accepts.',
  },
  {
    name: 'INTAKE_POSTMARK_PASSWORD',
    default: '(none)',
    meaning: 'HTTP Basic password of Postmark’s webhooks to `/intake/postmark`.',
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
      'Private networks that webhooks and accounts’ sign-in providers may reach, separated by commas: `10.1.0.0/16`.',
  },
  {
    name: 'KEEP_READER_ADDRESSES',
    default: '0',
    meaning: '`1` stores the full IP address of opens and clicks instead of its network.',
  },
  {
    name: 'AUDIT_DAYS',
    default: '400',
    meaning: 'Days to keep audit log entries; `0` keeps them forever.',
  },
  {
    name: 'SESSION_IDLE_HOURS',
    default: '12',
    meaning:
      'Hours after which an unused sign-in to the console ends, up to 168. Every sign-in ends after 7 days.',
  },
  {
    name: 'PASSWORD_MEMORY',
    default: '19',
    meaning:
      'MiB of memory for hashing a password (Argon2id), up to 1024. More makes stolen hashes harder to crack; each password is rehashed at the user’s next sign-in.',
  },
  {
    name: 'OIDC_ISSUER',
    default: '(none)',
    meaning:
      'Issuer of an OpenID Connect provider that people sign in with: `https://login.example.com`. See docs/operate/single-sign-on.md.',
  },
  {
    name: 'OIDC_CLIENT_ID',
    default: '(none)',
    meaning: 'Client ID of Signalpost at the provider.',
  },
  {
    name: 'OIDC_CLIENT_SECRET',
    default: '(none)',
    meaning: 'Client secret of Signalpost at the provider.',
    secret: true,
  },
  {
    name: 'OIDC_NAME',
    default: '(the issuer’s host)',
    meaning: 'Name of the provider on the sign-in page: “Sign in with …”.',
  },
  {
    name: 'OIDC_MEMBERS',
    default: '(none)',
    meaning:
      'Who becomes a member of which account when they sign in with the provider, separated by commas: `account:role:group` or `account:role:@domain`.',
  },
  {
    name: 'OIDC_TRUST_EMAIL',
    default: '0',
    meaning:
      '`1` treats the provider’s email addresses as verified, for providers that don’t say so. Only if people can’t choose their own address there.',
  },
  {
    name: 'OIDC_ONLY',
    default: '0',
    meaning:
      '`1` turns passwords and passkeys off for people who have signed in with the provider, except operators.',
  },
  {
    name: 'METRICS_PUBLIC',
    default: '0',
    meaning: '`1` opens `/metrics` to everyone without a token.',
  },
  {
    name: 'METRICS_TOKEN',
    default: '(none)',
    meaning: 'Bearer token for `/metrics`. Without it, `/metrics` returns 401.',
    secret: true,
  },
  {
    name: 'INBOX_TOKEN',
    default: '(first start)',
    meaning:
      'Bearer token for programs that read the local inbox. By default, `start` creates one in `demo.env` in `DATA_DIR`.',
    secret: true,
  },
  {
    name: 'SYSTEM_MAIL_FROM',
    default: '(none; a local address with `inbox`)',
    meaning:
      'Sender of password links, invitations, sender confirmations and security notices: `Name <address>`. Without it, none are sent.',
  },
  {
    name: 'BACKUP_TO',
    default: '(none)',
    meaning:
      'Where the service backs up the embedded database: a folder on another disk, or `s3://bucket/prefix`. See docs/operate/back-up.md.',
  },
  {
    name: 'BACKUP_RECIPIENT',
    default: '(none)',
    meaning:
      'Public key that backups are encrypted for: `age1…`, from `signalpost backup create-key`. Separate several with commas; each can restore.',
  },
  {
    name: 'BACKUP_EVERY',
    default: '5m',
    meaning:
      'Max time until a change is backed up: `30s`, `5m` or `1h`. If the disk is lost, at most the changes of this time are lost.',
  },
  {
    name: 'BACKUP_KEEP_DAYS',
    default: '14',
    meaning: 'How many days back you can restore to any time. Older backups are removed.',
  },
  {
    name: 'BACKUP_S3_ENDPOINT',
    default: '(none)',
    meaning: 'URL of the S3 service for `s3://` backups: `https://s3.eu-central-1.amazonaws.com`.',
  },
  {
    name: 'BACKUP_S3_REGION',
    default: 'us-east-1',
    meaning: 'Region of the S3 service.',
  },
  {
    name: 'BACKUP_S3_ACCESS_KEY',
    default: '(none)',
    meaning: 'Access key of the S3 service.',
  },
  {
    name: 'BACKUP_S3_SECRET_KEY',
    default: '(none)',
    meaning: 'Secret key of the S3 service.',
    secret: true,
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: '(none)',
    meaning:
      'Base URL of an OpenTelemetry collector that receives traces with OTLP over HTTP: `http://127.0.0.1:4318`. See docs/operate/monitor.md.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    default: '(`v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`)',
    meaning: 'URL for traces.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    default: '(none)',
    meaning: 'Headers of each export, such as `api-key=…`; separate several with commas.',
    secret: true,
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TIMEOUT',
    default: '10000',
    meaning: 'Milliseconds that one export may take.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
    default: '(the system’s)',
    meaning: 'PEM file of the certificates to trust for the collector.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    default: 'http/protobuf',
    meaning: 'Only `http/protobuf`.',
  },
  {
    name: 'OTEL_SERVICE_NAME',
    default: 'signalpost',
    meaning: 'Name of the service in traces.',
  },
  {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    default: '(none)',
    meaning:
      'Attributes of every export, such as `deployment.environment.name=production`; separate several with commas.',
  },
  {
    name: 'OTEL_TRACES_EXPORTER',
    default: 'otlp',
    meaning: '`none` turns traces off even if an endpoint is set.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER',
    default: 'parentbased_always_on',
    meaning:
      'Which requests are traced: `always_on`, `always_off` or `traceidratio`; with the prefix `parentbased_`, the caller’s decision takes precedence.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    default: '1',
    meaning: 'Share of the requests that `traceidratio` traces, such as `0.1`.',
  },
  {
    name: 'OTEL_SDK_DISABLED',
    default: 'false',
    meaning: '`true` turns OpenTelemetry off.',
  },
  { name: 'LOG_LEVEL', default: 'info', meaning: '`debug`, `info`, `warn`, `error` or `silent`.' },
  {
    name: 'LOG_ACCESS',
    default: '0',
    meaning: '`1` logs each HTTP request, with the client’s IP address.',
  },
  {
    name: 'LOG_AUDIT',
    default: '0',
    meaning: '`1` logs each event of the audit log that the service records.',
  },
  {
    name: 'LOG_MESSAGES',
    default: '0',
    meaning:
      '`1` logs each event of a message with the recipient’s domain; `addresses`, with the whole address.',
  },
];

/** Settings that hold a secret. */
export const secretNames: readonly string[] = settingDefinitions
  .filter(({ secret }) => secret)
  .map(({ name }) => name);
