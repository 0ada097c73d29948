import { maxAttachmentLimit } from '../../accounts/account/account-settings.ts';
import { minPasswordMemory } from '../../accounts/account/hash-password.ts';
import { samplerNames } from '../../base/telemetry/trace-settings.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { parseBackupTarget } from '../../host/backup/backup-target.ts';
import { mebibyte } from '../../host/http/limits/route-limits.ts';
import {
  anyText,
  choice,
  count,
  duration,
  list,
  number,
  onOff,
  port,
  type Setting,
  setting,
} from './setting.ts';
import {
  attachmentRules,
  attributes,
  backupRecipients,
  bearerToken,
  collectorUrl,
  databaseUrl,
  dnsServer,
  domain,
  dropInHosts,
  emailAddress,
  exportHeaders,
  file,
  headerName,
  hostName,
  issuer,
  mailbox,
  masterKey,
  memberRules,
  network,
  origins,
  proxy,
  s3Endpoint,
  share,
  smtpUrl,
  source,
} from './setting-types.ts';

/** All settings by topic: the only place that names them with their type, default and meaning. */
export const settingTopics = {
  'HTTP server': {
    HOST: setting(anyText, { default: '127.0.0.1', meaning: 'Address to listen on.' }),
    PORT: setting(port, {
      default: '3000',
      meaning: 'Port to listen on; `0` picks a free one and prints it.',
    }),
    PUBLIC_URL: setting(anyText, {
      shown: 'http://HOST:PORT',
      meaning:
        'Public address of the service, for links in pages and mail. With `https`, responses include HSTS.',
    }),
    ALLOW_INSECURE_PUBLIC_URL: setting(onOff, {
      default: '0',
      meaning:
        '`1` allows an `http://` `PUBLIC_URL` on another host. Passwords and tokens then travel unencrypted.',
    }),
    TLS_CERT: setting(anyText, {
      meaning:
        'Files with the certificate chain and its private key (PEM). `PORT` then serves HTTPS, with HTTP/1.1. Changed files are used within seconds.',
    }),
    TLS_KEY: setting(anyText),
    TRUST_PROXY: setting(list(proxy), {
      default: '',
      meaning:
        'Addresses or networks of trusted reverse proxies, separated by commas. `X-Forwarded-*` headers from other addresses are ignored.',
    }),
    DRAIN_SECONDS: setting(number('a number of seconds', 0, 300), {
      default: '0',
      meaning:
        'Seconds to keep accepting after SIGTERM, up to 300. Meanwhile, `/readyz` returns 503, so load balancers choose another node.',
    }),
    CORS_ORIGINS: setting(origins, {
      default: '',
      meaning:
        'Origins whose web pages can call the API with a token or key, separated by commas: `https://app.example.com`. The browser’s session is never accepted from them.',
    }),
    DROP_IN_HOSTS: setting(dropInHosts, {
      default: '',
      meaning:
        'Host names whose requests are for the API of a provider, separated by commas: `resend.mail.example=resend`. For clients that take only a host name; others use the prefix, such as `/resend`.',
    }),
    MAX_CONNECTIONS: setting(count, {
      default: '20000',
      meaning:
        'Max open HTTP connections per process; fewer if `ulimit -n` is lower. At the limit, the longest-idle connection is closed.',
    }),
    MAX_CONNECTIONS_PER_PEER: setting(count, {
      default: '2000',
      meaning:
        'Max open connections from one IPv4 address or IPv6 /64; an IPv4 /24 or IPv6 /48 has four times as many. Doesn’t apply to proxies in `TRUST_PROXY`.',
    }),
  },
  'Data and keys': {
    DATA_DIR: setting(anyText, {
      default: './data',
      meaning:
        'Folder for the embedded database, the key file and the secrets that the first start creates.',
    }),
    DATABASE_URL: setting(databaseUrl, {
      shown: '(embedded)',
      secret: true,
      meaning:
        'Your own PostgreSQL, 15 or later: `postgres://user:password@host:5432/name`. With several hosts (`host1:5432,host2:5432`), the one that accepts writes is used.',
    }),
    SIGNALPOST_KEY: setting(masterKey, {
      shown: '(key file)',
      secret: true,
      meaning:
        'Master key for stored secrets: 32 random bytes in base64. Without it, a key file in `DATA_DIR` is created and used.',
    }),
    SIGNALPOST_KEY_PREVIOUS: setting(masterKey, {
      secret: true,
      meaning: 'The old key while `SIGNALPOST_KEY` is rotated; see docs/operate/harden.md.',
    }),
    DEMO: setting(onOff, {
      shown: '(first start)',
      meaning: '`1` also sets up the demo on your own database; `0` never does.',
    }),
    AUDIT_DAYS: setting(number('a number of days', 0, 99_999), {
      default: '400',
      meaning: 'Days to keep audit log entries; `0` keeps them forever.',
    }),
    SESSION_IDLE_HOURS: setting(number('a number of hours', 1, 168), {
      default: '12',
      meaning:
        'Hours after which an unused sign-in to the console ends, up to 168. Every sign-in ends after 7 days.',
    }),
    PASSWORD_MEMORY: setting(number('a number of MiB', minPasswordMemory, 1_024), {
      default: String(minPasswordMemory),
      meaning:
        'MiB of memory for hashing a password (Argon2id), up to 1024. More makes stolen hashes harder to crack; each password is rehashed at the user’s next sign-in.',
    }),
    KEEP_READER_ADDRESSES: setting(onOff, {
      default: '0',
      meaning: '`1` stores the full IP address of opens and clicks instead of its network.',
    }),
  },
  Backups: {
    BACKUP_TO: setting(parseBackupTarget, {
      meaning:
        'Where the service backs up the embedded database: a folder on another disk, or `s3://bucket/prefix`. See docs/operate/back-up.md.',
    }),
    BACKUP_RECIPIENT: setting(backupRecipients, {
      default: '',
      meaning:
        'Public key that backups are encrypted for: `age1…`, from `signalpost backup create-key`. Separate several with commas; each can restore.',
    }),
    BACKUP_EVERY: setting(duration, {
      default: '5m',
      meaning:
        'Max time until a change is backed up: `30s`, `5m` or `1h`. If the disk is lost, at most the changes of this time are lost.',
    }),
    BACKUP_KEEP_DAYS: setting(count, {
      default: '14',
      meaning: 'How many days back you can restore to any time. Older backups are removed.',
    }),
    BACKUP_S3_ENDPOINT: setting(s3Endpoint, {
      meaning:
        'URL of the S3 service for `s3://` backups: `https://s3.eu-central-1.amazonaws.com`.',
    }),
    BACKUP_S3_REGION: setting(anyText, {
      default: 'us-east-1',
      meaning: 'Region of the S3 service.',
    }),
    BACKUP_S3_ACCESS_KEY: setting(anyText, { meaning: 'Access key of the S3 service.' }),
    BACKUP_S3_SECRET_KEY: setting(anyText, {
      secret: true,
      meaning: 'Secret key of the S3 service.',
    }),
  },
  'Single sign-on': {
    OIDC_ISSUER: setting(issuer, {
      meaning:
        'Issuer of an OpenID Connect provider that people sign in with: `https://login.example.com`. See docs/operate/single-sign-on.md.',
    }),
    OIDC_CLIENT_ID: setting(anyText, { meaning: 'Client ID of Signalpost at the provider.' }),
    OIDC_CLIENT_SECRET: setting(anyText, {
      secret: true,
      meaning: 'Client secret of Signalpost at the provider.',
    }),
    OIDC_NAME: setting(anyText, {
      shown: '(the issuer’s host)',
      meaning: 'Name of the provider on the sign-in page: “Sign in with …”.',
    }),
    OIDC_MEMBERS: setting(memberRules, {
      default: '',
      meaning:
        'Who becomes a member of which account when they sign in with the provider, separated by commas: `account:role:group` or `account:role:@domain`.',
    }),
    OIDC_TRUST_EMAIL: setting(onOff, {
      default: '0',
      meaning:
        '`1` treats the provider’s email addresses as verified, for providers that don’t say so. Only if people can’t choose their own address there.',
    }),
    OIDC_ONLY: setting(onOff, {
      default: '0',
      meaning:
        '`1` turns passwords and passkeys off for people who have signed in with the provider, except operators.',
    }),
  },
  Delivery: {
    DELIVERY: setting(choice('inbox', 'relay', 'direct'), {
      shown: '`inbox`, or `relay` with `SMTP_URL`',
      meaning:
        '`inbox` keeps mail in the local inbox, `relay` sends it through `SMTP_URL`, `direct` delivers to the recipients’ servers.',
    }),
    SMTP_URL: setting(smtpUrl, {
      secret: true,
      meaning:
        'Relay: `smtp://user:password@host:587` or `smtps://…:465`, with `?tls=required`, `optional`, `off` or `unverified` and `&connections=10`. Separate several with spaces: if one is unreachable, the next one is used.',
    }),
    SMTP_HOSTNAME: setting(hostName, {
      shown: '(the machine’s)',
      meaning: 'Host name for EHLO, and for Message-IDs without a sender domain.',
    }),
    DELIVERY_REDIRECT: setting(emailAddress, {
      meaning: 'Sends every message to this address instead. For staging.',
    }),
    DELIVERY_ALLOW: setting(list(domain), {
      default: '',
      shown: '(all)',
      meaning:
        'Delivers only to these domains, separated by commas; other messages end as `canceled`. For staging.',
    }),
    REFUSED_HEADERS: setting(list(headerName), {
      default: '',
      meaning:
        'More headers that requests can’t set, separated by commas: `X-Priority,X-Internal-*`. Some are always reserved; see docs/send-email.md.',
    }),
    SYSTEM_MAIL_FROM: setting(mailbox, {
      shown: '(none; a local address with `inbox`)',
      meaning:
        'Sender of password links, invitations, sender confirmations and security notices: `Name <address>`. Without it, none are sent.',
    }),
    INBOX_TOKEN: setting(bearerToken, {
      shown: '(first start)',
      secret: true,
      meaning:
        'Bearer token for programs that read the local inbox. By default, `start` creates one in `demo.env` in `DATA_DIR`.',
    }),
    ATTACHMENT_LIMIT: setting(number('a number of MiB', 0, maxAttachmentLimit / mebibyte), {
      default: '10',
      shown: '10 MiB',
      meaning:
        'Max size of a message with attachments as sent, in MiB, up to `25`; `0`: no attachments. Operators can set another limit per account.',
    }),
    ATTACHMENT_REFUSED_TYPES: setting(attachmentRules, {
      default: 'default',
      shown: '(executables)',
      meaning:
        'Attachments to refuse: extensions such as `.exe` and types such as `application/x-msdownload`, separated by commas. `default` adds the built-in list, `none` refuses no type.',
    }),
  },
  'Direct delivery': {
    DNS_SERVERS: setting(list(dnsServer), {
      default: '',
      shown: '(the machine’s)',
      meaning:
        'DNS resolvers for delivery, domain checks, webhooks and accounts’ sign-in providers, separated by commas: `192.0.2.53,[2001:db8::53]:53`.',
    }),
    DIRECT_SOURCES: setting(list(source), {
      default: '',
      shown: '(the system’s choice)',
      meaning:
        'With `direct`: source addresses, each with its EHLO name: `192.0.2.10=mail1.example.com,pool/192.0.2.11=mail2.example.com`.',
    }),
    DIRECT_PORT: setting(port, {
      default: '25',
      meaning: 'With `direct`: port of the recipients’ servers. Change it for tests only.',
    }),
    DIRECT_LOOPBACK: setting(onOff, {
      default: '0',
      meaning: 'With `direct`: `1` allows delivery to this machine. For tests.',
    }),
    DELIVERY_NETWORKS: setting(list(network), {
      default: '',
      meaning:
        'With `direct`: private networks of recipients’ servers, separated by commas: `10.1.0.0/16`.',
    }),
  },
  'Bounces and complaints': {
    BOUNCE_PORT: setting(port, {
      meaning:
        'SMTP port for bounces, complaints and replies: 25 on the host that the return path’s MX record names.',
    }),
    BOUNCE_HOST: setting(anyText, {
      default: '0.0.0.0',
      meaning: 'Address to listen on for bounces, complaints and replies.',
    }),
    BOUNCE_TLS_KEY: setting(anyText, {
      meaning:
        'Files with the key and certificate chain (PEM) for STARTTLS on `BOUNCE_PORT`. Changed files are used within seconds.',
    }),
    BOUNCE_TLS_CERT: setting(anyText),
    INTAKE_SNS_TOPICS: setting(list(anyText), {
      default: '',
      meaning:
        'SNS topics (ARN, separated by commas) whose Amazon SES reports `/intake/ses` accepts.',
    }),
    INTAKE_POSTMARK_PASSWORD: setting(anyText, {
      secret: true,
      meaning: 'HTTP Basic password of Postmark’s webhooks to `/intake/postmark`.',
    }),
    INTAKE_MAILGUN_KEY: setting(anyText, {
      secret: true,
      meaning: 'Signing key of Mailgun’s webhooks to `/intake/mailgun`.',
    }),
    INTAKE_SENDGRID_KEY: setting(anyText, {
      secret: true,
      meaning: 'Verification key of SendGrid’s event webhook to `/intake/sendgrid`.',
    }),
  },
  'SMTP submission': {
    SUBMISSION_PORT: setting(port, {
      meaning: 'SMTP port for submission with STARTTLS, usually `587`. Needs a certificate.',
    }),
    SUBMISSION_TLS_PORT: setting(port, {
      meaning: 'SMTP port for submission with TLS from the start, usually `465`.',
    }),
    SUBMISSION_HOST: setting(anyText, {
      default: '0.0.0.0',
      meaning: 'Address to listen on for submission.',
    }),
    SUBMISSION_TLS_CERT: setting(anyText, {
      shown: 'TLS_CERT, TLS_KEY',
      meaning:
        'Files with the certificate chain and its private key (PEM) of the submission ports. Changed files are used within seconds.',
    }),
    SUBMISSION_TLS_KEY: setting(anyText),
  },
  Webhooks: {
    WEBHOOK_NETWORKS: setting(list(network), {
      default: '',
      meaning:
        'Private networks that webhooks and accounts’ sign-in providers may reach, separated by commas: `10.1.0.0/16`.',
    }),
  },
  Outbox: {
    OUTBOX_NETWORKS: setting(list(network), {
      default: '',
      meaning:
        'Private networks of accounts’ databases whose outboxes are read, separated by commas: `10.1.0.0/16`. Addresses in them may also be read without TLS.',
    }),
  },
  'Metrics and logs': {
    METRICS_TOKEN: setting(bearerToken, {
      secret: true,
      meaning: 'Bearer token for `/metrics`. Without it, `/metrics` returns 401.',
    }),
    METRICS_PUBLIC: setting(onOff, {
      default: '0',
      meaning: '`1` opens `/metrics` to everyone without a token.',
    }),
    LOG_LEVEL: setting(choice('debug', 'info', 'warn', 'error', 'silent'), {
      default: 'info',
      meaning: '`debug`, `info`, `warn`, `error` or `silent`.',
    }),
    LOG_ACCESS: setting(onOff, {
      default: '0',
      meaning: '`1` logs each HTTP request, with the client’s IP address.',
    }),
    LOG_AUDIT: setting(onOff, {
      default: '0',
      meaning: '`1` logs each event of the audit log that the service records.',
    }),
    LOG_MESSAGES: setting(choice('0', '1', 'addresses'), {
      default: '0',
      meaning:
        '`1` logs each event of a message with the recipient’s domain; `addresses`, with the whole address.',
    }),
  },
  OpenTelemetry: {
    OTEL_EXPORTER_OTLP_ENDPOINT: setting(collectorUrl, {
      meaning:
        'Base URL of an OpenTelemetry collector that receives traces with OTLP over HTTP: `http://127.0.0.1:4318`. See docs/operate/monitor.md.',
    }),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(collectorUrl, {
      shown: '(`v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`)',
      meaning: 'URL for traces.',
    }),
    OTEL_EXPORTER_OTLP_HEADERS: setting(exportHeaders, {
      default: '',
      secret: true,
      meaning: 'Headers of each export, such as `api-key=…`; separate several with commas.',
    }),
    OTEL_EXPORTER_OTLP_TIMEOUT: setting(number('a number of milliseconds', 100, 60_000), {
      default: '10000',
      meaning: 'Milliseconds that one export may take.',
    }),
    OTEL_EXPORTER_OTLP_CERTIFICATE: setting(file, {
      shown: '(the system’s)',
      meaning: 'PEM file of the certificates to trust for the collector.',
    }),
    OTEL_EXPORTER_OTLP_PROTOCOL: setting(choice('http/protobuf'), {
      default: 'http/protobuf',
      meaning: 'Only `http/protobuf`.',
    }),
    OTEL_SERVICE_NAME: setting(anyText, {
      default: 'signalpost',
      meaning: 'Name of the service in traces.',
    }),
    OTEL_RESOURCE_ATTRIBUTES: setting(attributes, {
      default: '',
      meaning:
        'Attributes of every export, such as `deployment.environment.name=production`; separate several with commas.',
    }),
    OTEL_TRACES_EXPORTER: setting(choice('otlp', 'none'), {
      default: 'otlp',
      meaning: '`none` turns traces off even if an endpoint is set.',
    }),
    OTEL_TRACES_SAMPLER: setting(choice(...samplerNames), {
      default: 'parentbased_always_on',
      meaning:
        'Which requests are traced: `always_on`, `always_off` or `traceidratio`; with the prefix `parentbased_`, the caller’s decision takes precedence.',
    }),
    OTEL_TRACES_SAMPLER_ARG: setting(share, {
      default: '1',
      meaning: 'Share of the requests that `traceidratio` traces, such as `0.1`.',
    }),
    OTEL_SDK_DISABLED: setting(anyText, {
      default: 'false',
      meaning: '`true` turns OpenTelemetry off.',
    }),
  },
};

/** All settings by name. */
export const settings = {
  ...settingTopics['HTTP server'],
  ...settingTopics['Data and keys'],
  ...settingTopics.Backups,
  ...settingTopics['Single sign-on'],
  ...settingTopics.Delivery,
  ...settingTopics['Direct delivery'],
  ...settingTopics['Bounces and complaints'],
  ...settingTopics['SMTP submission'],
  ...settingTopics.Webhooks,
  ...settingTopics.Outbox,
  ...settingTopics['Metrics and logs'],
  ...settingTopics.OpenTelemetry,
};

export type SettingName = keyof typeof settings;

/** The values of settings by name. */
export type SettingValues = {
  readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]['read']>;
};

const definitions: { readonly [Name in SettingName]: Setting<SettingValues[Name]> } = settings;

/** Settings that hold a secret. */
export const secretNames: readonly string[] = Object.entries(settings)
  .filter(([, { secret }]) => secret)
  .map(([name]) => name);

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of an environment, each parsed when it is read. An empty variable counts as not set. */
export class SettingReader {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** @throws OperatorError if the setting is invalid */
  read<Name extends SettingName>(name: Name): SettingValues[Name] {
    return definitions[name].read(name, this.#textOf(name));
  }

  isSet(name: SettingName): boolean {
    return this.#textOf(name) !== undefined;
  }

  /**
   * Refuses settings that would be ignored silently.
   * @param why end of the error message
   * @throws OperatorError if one of them is set
   */
  refuse(names: readonly SettingName[], why: string): void {
    const unused = names.find((name) => this.isSet(name));
    if (unused !== undefined) throw new OperatorError(`${unused} is set, but ${why}`);
  }

  #textOf(name: SettingName): string | undefined {
    const text = this.#environment[name]?.trim();
    return text === '' ? undefined : text;
  }
}
