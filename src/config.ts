import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseSource, type Source } from './delivery/direct/source-pools.ts';
import { readSmtpServers } from './delivery/smtp-server-settings.ts';
import { type DnsServer, parseDnsServer } from './foundation/dns/dns-server.ts';
import { domainOf, parseEmailAddress } from './foundation/email-address.ts';
import { OperatorError } from './foundation/errors.ts';
import { type AccountId, parseAccountId, parseTemplateId } from './foundation/ids.ts';

/** How messages leave: to the local inbox, to a relay by SMTP, or straight to the recipients' servers. */
export type DeliveryKind = 'inbox' | 'relay' | 'direct';

/** A template of an account. */
export interface PasswordTemplate {
  readonly accountId: AccountId;
  readonly templateId: string;
}

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** Undefined: the embedded database under `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly demo: boolean;
  readonly delivery: DeliveryKind;
  readonly smtpUrl: string | undefined;
  /** The address that others see, without a trailing slash; undefined until the port is known. */
  readonly publicUrl: string | undefined;
  readonly trustProxy: readonly string[];
  readonly deliveryRedirect: string | undefined;
  readonly deliveryAllow: readonly string[];
  /** Where bounces and complaints come in by mail; undefined: nowhere. */
  readonly reports: ReportConfig | undefined;
  readonly intake: IntakeConfig;
  /** Networks that webhooks may go to although they are not public. */
  readonly webhookNetworks: readonly string[];
  /** Readers' addresses stay whole in events of opens and clicks. */
  readonly keepReaderAddresses: boolean;
  readonly metricsPublic: boolean;
  /** Days that the audit log is kept; 0: for ever. */
  readonly auditDays: number;
  readonly logLevel: string;
  /** Base64 of 32 bytes; undefined: a key file in `dataDir`. */
  readonly key: string | undefined;
  readonly hostname: string | undefined;
  /** Resolvers to ask; none: the machine's own. */
  readonly dnsServers: readonly DnsServer[];
  readonly direct: DirectSettings;
  /** The account and template of mails with a link for setting a password. */
  readonly passwordTemplate: PasswordTemplate | undefined;
  readonly senderTemplate: PasswordTemplate | undefined;
}

/** Settings of delivery straight to recipients' servers. */
export interface DirectSettings {
  /** Addresses that mail leaves from; none: the system's choice. */
  readonly sources: readonly Source[];
  readonly port: number;
  /** Mail may go to this machine itself. */
  readonly loopback: boolean;
}

/** The SMTP server for bounces and complaints; key and certificate are PEM. */
export interface ReportConfig {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string } | undefined;
}

/** What relays that report by webhook prove themselves with. */
export interface IntakeConfig {
  readonly snsTopics: readonly string[];
  readonly postmarkPassword: string | undefined;
  readonly mailgunKey: string | undefined;
  readonly sendgridKey: string | undefined;
}

/** A setting of the environment: its name, its default as documented, and what it means. */
export interface Setting {
  readonly name: string;
  readonly default: string;
  readonly meaning: string;
}

/** Every setting, in the order of the README's table, which is generated from here. */
export const settings: readonly Setting[] = [
  { name: 'HOST', default: '127.0.0.1', meaning: 'Address to listen on.' },
  {
    name: 'PORT',
    default: '3000',
    meaning: 'Port to listen on; `0` takes a free one and prints it.',
  },
  {
    name: 'PUBLIC_URL',
    default: 'http://HOST:PORT',
    meaning: 'The address that others see, for links in pages and mail.',
  },
  {
    name: 'DATA_DIR',
    default: './data',
    meaning: 'Folder of the embedded database, the key file and the demo’s secrets.',
  },
  {
    name: 'DATABASE_URL',
    default: '(embedded)',
    meaning: 'Your own PostgreSQL, 15 or later: `postgres://user:password@host:5432/name`.',
  },
  {
    name: 'SIGNALPOST_KEY',
    default: '(key file)',
    meaning:
      '32 random bytes in base64 that protect stored secrets; without it a file in `DATA_DIR` is made and used.',
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
  },
  {
    name: 'INTAKE_MAILGUN_KEY',
    default: '(none)',
    meaning: 'Signing key of Mailgun’s webhooks to `/intake/mailgun`.',
  },
  {
    name: 'INTAKE_SENDGRID_KEY',
    default: '(none)',
    meaning: 'Verification key of SendGrid’s event webhook to `/intake/sendgrid`.',
  },
  {
    name: 'WEBHOOK_NETWORKS',
    default: '(none)',
    meaning:
      'Networks such as `10.1.0.0/16`, separated by commas, that webhooks may go to although they are private.',
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
    meaning: '`1` answers `/metrics` to everyone instead of the loopback only.',
  },
  {
    name: 'PASSWORD_TEMPLATE',
    default: '(the demo’s)',
    meaning:
      'Template of mails with a link for setting a password, as `account/template`; it gets the fields `Reset Link`, `First Name` and `Expires In`.',
  },
  {
    name: 'SENDER_TEMPLATE',
    default: '(none)',
    meaning:
      'Template of mails with a link that verifies a sender address, as `account/template`; it gets the fields `Verification Link` and `Expires In`.',
  },
  { name: 'LOG_LEVEL', default: 'info', meaning: '`debug`, `info`, `warn`, `error` or `silent`.' },
];

type Environment = Readonly<Record<string, string | undefined>>;
type Read = (name: string) => string | undefined;

/**
 * Reads the environment once. An empty variable counts as not set.
 * @throws OperatorError for a wrong value or settings that contradict each other, saying what to change
 */
export function readConfig(environment: Environment): Config {
  const read: Read = (name) => {
    const value = environment[name]?.trim();
    return value === '' ? undefined : value;
  };
  const smtpUrl = readSmtpUrl(read('SMTP_URL'));
  const databaseUrl = readDatabaseUrl(read('DATABASE_URL'));
  const demo = readSwitch('DEMO', read('DEMO')) ?? databaseUrl === undefined;
  const hostname = read('SMTP_HOSTNAME')?.toLowerCase();
  const delivery = readDelivery(read('DELIVERY'), smtpUrl, hostname);
  refuseDirectSettings(delivery, read);
  return {
    host: read('HOST') ?? '127.0.0.1',
    port: readPort('PORT', read('PORT') ?? '3000'),
    dataDir: resolve(read('DATA_DIR') ?? './data'),
    databaseUrl,
    demo,
    delivery,
    smtpUrl,
    publicUrl: readPublicUrl(read('PUBLIC_URL')),
    trustProxy: readProxies(read('TRUST_PROXY')),
    deliveryRedirect: readAddress('DELIVERY_REDIRECT', read('DELIVERY_REDIRECT')),
    deliveryAllow: readDomains('DELIVERY_ALLOW', read('DELIVERY_ALLOW')),
    reports: readReports(read),
    intake: {
      snsTopics: readList(read('INTAKE_SNS_TOPICS')),
      postmarkPassword: read('INTAKE_POSTMARK_PASSWORD'),
      mailgunKey: read('INTAKE_MAILGUN_KEY'),
      sendgridKey: read('INTAKE_SENDGRID_KEY'),
    },
    webhookNetworks: readNetworks('WEBHOOK_NETWORKS', read('WEBHOOK_NETWORKS')),
    keepReaderAddresses:
      readSwitch('KEEP_READER_ADDRESSES', read('KEEP_READER_ADDRESSES')) ?? false,
    metricsPublic: readSwitch('METRICS_PUBLIC', read('METRICS_PUBLIC')) ?? false,
    auditDays: readDays('AUDIT_DAYS', read('AUDIT_DAYS') ?? '400'),
    logLevel: readChoice('LOG_LEVEL', read('LOG_LEVEL') ?? 'info', [
      'debug',
      'info',
      'warn',
      'error',
      'silent',
    ]),
    key: readKey(read('SIGNALPOST_KEY')),
    hostname,
    dnsServers: readList(read('DNS_SERVERS')).map(parseDnsServer),
    direct: {
      sources: readList(read('DIRECT_SOURCES')).map(parseSource),
      port: readPort('DIRECT_PORT', read('DIRECT_PORT') ?? '25'),
      loopback: readSwitch('DIRECT_LOOPBACK', read('DIRECT_LOOPBACK')) ?? false,
    },
    passwordTemplate: readOwnTemplate(
      'PASSWORD_TEMPLATE',
      read('PASSWORD_TEMPLATE') ?? (demo ? '1000/password-reset' : undefined),
    ),
    senderTemplate: readOwnTemplate('SENDER_TEMPLATE', read('SENDER_TEMPLATE')),
  };
}

function readReports(read: Read): ReportConfig | undefined {
  const port = read('BOUNCE_PORT');
  if (port === undefined) {
    const useless = ['BOUNCE_HOST', 'BOUNCE_TLS_KEY', 'BOUNCE_TLS_CERT'].find((name) => read(name));
    if (useless === undefined) return undefined;
    throw new OperatorError(
      `${useless} is set, but nothing listens without BOUNCE_PORT; set both.`,
    );
  }
  const [key, cert] = [read('BOUNCE_TLS_KEY'), read('BOUNCE_TLS_CERT')];
  if ((key === undefined) !== (cert === undefined)) {
    throw new OperatorError(
      'BOUNCE_TLS_KEY and BOUNCE_TLS_CERT belong together; set both or none.',
    );
  }
  return {
    host: read('BOUNCE_HOST') ?? '0.0.0.0',
    port: readPort('BOUNCE_PORT', port),
    tls:
      key === undefined || cert === undefined
        ? undefined
        : { key: readText('BOUNCE_TLS_KEY', key), cert: readText('BOUNCE_TLS_CERT', cert) },
  };
}

function readNetworks(name: string, text: string | undefined): string[] {
  const networks = readList(text);
  for (const network of networks) {
    const [base = '', bits = '0', ...more] = network.split('/');
    const most = isIP(base) === 4 ? 32 : 128;
    if (isIP(base) === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most)
      throw new OperatorError(`${name} must list networks such as 10.1.0.0/16, not "${network}".`);
  }
  return networks;
}

/** Names that stand for networks, as `proxy-addr` knows them. */
const namedNetworks = ['loopback', 'linklocal', 'uniquelocal'];

function readProxies(text: string | undefined): string[] {
  const proxies = readList(text);
  readNetworks('TRUST_PROXY', proxies.filter((proxy) => !namedNetworks.includes(proxy)).join());
  return proxies;
}

function readAddress(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return parsed.address;
  throw new OperatorError(`${name} must be an e-mail address, not "${text}": it ${parsed.reason}.`);
}

function readDomains(name: string, text: string | undefined): string[] {
  return readList(text).map((domain) => {
    const parsed = parseEmailAddress(`postmaster@${domain}`);
    if (parsed.ok) return domainOf(parsed.address);
    throw new OperatorError(`${name} must list domains such as example.com, not "${domain}".`);
  });
}

function readText(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OperatorError(`${name} names ${file}, which cannot be read.`, { cause });
  }
}

function readPort(name: string, text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new OperatorError(`${name} must be a number from 0 to 65535, not "${text}".`);
  }
  return port;
}

function readDays(name: string, text: string): number {
  const days = Number(text);
  if (!/^\d{1,5}$/.test(text)) {
    throw new OperatorError(`${name} must be a number of days from 0 to 99999, not "${text}".`);
  }
  return days;
}

function readSwitch(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw new OperatorError(`${name} must be 1 or 0, not "${text}".`);
}

function readChoice<Choice extends string>(
  name: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) {
    throw new OperatorError(`${name} must be one of ${choices.join(', ')}, not "${text}".`);
  }
  return found;
}

function readDelivery(
  text: string | undefined,
  smtpUrl: string | undefined,
  hostname: string | undefined,
): DeliveryKind {
  const kind = readChoice('DELIVERY', text ?? (smtpUrl === undefined ? 'inbox' : 'relay'), [
    'inbox',
    'relay',
    'direct',
  ]);
  if (kind === 'relay' && smtpUrl === undefined) {
    throw new OperatorError(
      'DELIVERY=relay needs SMTP_URL, the address of the relay: smtp://user:password@host:587.',
    );
  }
  if (kind !== 'relay' && smtpUrl !== undefined) {
    throw new OperatorError(
      `SMTP_URL is set, but DELIVERY=${kind} does not use it; remove one of the two.`,
    );
  }
  if (kind === 'direct' && hostname === undefined) {
    throw new OperatorError(
      'DELIVERY=direct needs SMTP_HOSTNAME, the name of this mail server in DNS: mail.example.com.',
    );
  }
  return kind;
}

/** A setting of another way of delivery would be passed over in silence. */
function refuseDirectSettings(delivery: DeliveryKind, read: Read): void {
  const useless = ['DIRECT_SOURCES', 'DIRECT_PORT', 'DIRECT_LOOPBACK'].find((name) => read(name));
  if (delivery === 'direct' || useless === undefined) return;
  throw new OperatorError(
    `${useless} is set, but DELIVERY=${delivery} does not use it; remove it, or set DELIVERY=direct.`,
  );
}

function readSmtpUrl(text: string | undefined): string | undefined {
  if (text !== undefined) readSmtpServers(text);
  return text;
}

function readDatabaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw new OperatorError('DATABASE_URL must look like postgres://user:password@host:5432/name.');
  }
  return text;
}

function readPublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (
    url === null ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new OperatorError(
      'PUBLIC_URL must be an http or https address without a query, such as https://mail.example.com.',
    );
  }
  return text.replace(/\/+$/, '');
}

function readKey(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (Buffer.from(text, 'base64').length !== 32) {
    throw new OperatorError(
      'SIGNALPOST_KEY must be 32 bytes in base64; `openssl rand -base64 32` makes one.',
    );
  }
  return text;
}

function readOwnTemplate(name: string, text: string | undefined): PasswordTemplate | undefined {
  if (text === undefined) return undefined;
  const [account = '', templateId = '', ...rest] = text.split('/');
  const accountId = parseAccountId(account);
  if (accountId === undefined || parseTemplateId(templateId) === undefined || rest.length > 0) {
    throw new OperatorError(
      `${name} must be an account and a template, such as 1000/password-reset, not "${text}".`,
    );
  }
  return { accountId, templateId };
}

function readList(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
