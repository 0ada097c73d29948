import { resolve } from 'node:path';
import type { SignInSettings } from '../access/authorize.ts';
import { minPasswordMemory } from '../account/hash-password.ts';
import type { BackupSettings } from '../backup/backup-target.ts';
import { parseSource, type Source } from '../delivery/direct/source-pools.ts';
import { readSmtpServers } from '../delivery/smtp-server-settings.ts';
import { type DnsServer, parseDnsServer } from '../foundation/dns/dns-server.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { TraceSettings } from '../foundation/tracing/trace-settings.ts';
import { type ConnectionLimits, capToOpenFileLimit } from '../http/limits/limit-connections.ts';
import { type CertificateFiles, readCertificate } from '../http/tls/live-certificate.ts';
import type { SignInProvider } from '../session/single-sign-on/sign-in-provider.ts';
import type { SmtpSubmissionSettings } from '../smtp-submission/smtp-submission-module.ts';
import type { AttachmentSettings } from '../submission/check-attachments.ts';
import { findSettingWarnings } from './find-setting-warnings.ts';
import { readAttachmentLimit, readRefusedTypes } from './read-attachment-settings.ts';
import { readBackupSettings } from './read-backup-settings.ts';
import { type LogLines, readLogLines } from './read-log-settings.ts';
import { readTraceSettings } from './read-otlp-settings.ts';
import { readSecretFiles } from './read-secret-files.ts';
import {
  readBearerToken,
  readChoice,
  readCount,
  readDatabaseUrl,
  readDays,
  readDomainList,
  readEmailAddress,
  readHeaderNames,
  readHostName,
  readHours,
  readKey,
  readList,
  readMailbox,
  readNetworks,
  readOrigins,
  readPasswordMemory,
  readPort,
  readProxies,
  readPublicUrl,
  readSeconds,
  readSwitch,
  type SenderMailbox,
} from './read-setting.ts';
import { readSignInProvider } from './read-sign-in-provider.ts';
import { refuseRemovedSettings } from './removed-settings.ts';

/** How messages leave: to the local inbox, to an SMTP relay, or directly to the recipients' servers. */
type DeliveryKind = 'inbox' | 'relay' | 'direct';

export interface Config {
  readonly host: string;
  readonly port: number;
  /** How long the service keeps accepting after SIGTERM. */
  readonly drainSeconds: number;
  readonly dataDir: string;
  /** Undefined: the embedded database under `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly demo: boolean;
  readonly delivery: DeliveryKind;
  readonly smtpUrl: string | undefined;
  /** The public base URL, without a trailing slash; undefined until the port is known. */
  readonly publicUrl: string | undefined;
  /** The certificate of the HTTP port; undefined: it speaks plain HTTP. */
  readonly tls: CertificateFiles | undefined;
  readonly trustProxy: readonly string[];
  /** Origins whose pages can call the API. */
  readonly crossOrigins: readonly string[];
  readonly connections: ConnectionLimits;
  readonly attachments: AttachmentSettings;
  readonly deliveryRedirect: string | undefined;
  readonly deliveryAllow: readonly string[];
  /** Headers that requests must not set, besides the reserved ones; `*` at the end matches anything. */
  readonly refusedHeaders: readonly string[];
  /** The server that receives bounces and complaints by mail; undefined: none. */
  readonly bounceServer: BounceServerConfig | undefined;
  readonly intake: IntakeConfig;
  /** Message submission over SMTP; undefined: off. */
  readonly smtpSubmission: SmtpSubmissionSettings | undefined;
  /** Private networks that webhooks may reach. */
  readonly webhookNetworks: readonly string[];
  /** Keep the full IP address in open and click events. */
  readonly keepReaderAddresses: boolean;
  readonly metrics: MetricsAccess;
  /** The token for programs that read the inbox; undefined: not set. */
  readonly inboxToken: string | undefined;
  /** Days that the audit log is kept; 0: forever. */
  readonly auditDays: number;
  /** Hours after which an unused browser session ends. */
  readonly sessionIdleHours: number;
  /** MiB that hashing a password takes. */
  readonly passwordMemory: number;
  /** The installation's provider of OpenID Connect; undefined: none. */
  readonly signInProvider: SignInProvider | undefined;
  readonly logLevel: string;
  readonly logLines: LogLines;
  /** Base64 of 32 bytes; undefined: a key file in `dataDir`. */
  readonly key: string | undefined;
  /** The previous key, or the one still in use, while the master key is rotated. */
  readonly previousKey: string | undefined;
  readonly hostname: string | undefined;
  /** DNS resolvers; empty: those of the system. */
  readonly dnsServers: readonly DnsServer[];
  readonly direct: DirectSettings;
  /** Sender of system mail; undefined: none is sent. */
  readonly systemMailFrom: SenderMailbox | undefined;
  readonly backup: BackupSettings;
  /** Undefined: traces are off. */
  readonly tracing: TraceSettings | undefined;
  /** Variables that look like settings but have no effect, with what to do instead. */
  readonly settingWarnings: readonly string[];
}

/** Settings of direct delivery. */
interface DirectSettings {
  /** Addresses to send from; empty: the system chooses. */
  readonly sources: readonly Source[];
  readonly port: number;
  /** Allow delivery to this machine itself. */
  readonly loopback: boolean;
  /** Private networks in which recipients' servers are allowed. */
  readonly networks: readonly string[];
}

/** The SMTP server for bounces and complaints. */
interface BounceServerConfig {
  readonly host: string;
  readonly port: number;
  readonly tls: CertificateFiles | undefined;
}

/** Credentials of the relays that report by webhook. */
interface IntakeConfig {
  readonly snsTopics: readonly string[];
  readonly postmarkPassword: string | undefined;
  readonly mailgunKey: string | undefined;
  readonly sendgridKey: string | undefined;
}

/** Who can read `/metrics`: everyone, or only clients with the token. Without a token, nobody can. */
interface MetricsAccess {
  readonly public: boolean;
  readonly token: string | undefined;
}

/** Mail that never leaves the machine needs no real sender. */
const localSender = 'Signalpost <signalpost@localhost.localdomain>';

type Environment = Readonly<Record<string, string | undefined>>;
type Read = (name: string) => string | undefined;

/**
 * Reads the environment once. An empty variable counts as not set.
 * @throws OperatorError if a value is invalid, settings contradict each other or one was removed; it says what to change
 */
export function readConfig(given: Environment): Config {
  refuseRemovedSettings(given);
  const settingWarnings = findSettingWarnings(given);
  try {
    return { ...readSettings(readSecretFiles(given)), settingWarnings };
  } catch (error) {
    // A setting may be missing because its name is misspelled.
    if (!(error instanceof OperatorError) || settingWarnings.length === 0) throw error;
    throw new OperatorError([error.message, ...settingWarnings].join('\n'), { cause: error });
  }
}

function readSettings(environment: Environment): Omit<Config, 'settingWarnings'> {
  const read: Read = (name) => {
    const value = environment[name]?.trim();
    return value === '' ? undefined : value;
  };
  const smtpUrl = readSmtpUrl(read('SMTP_URL'));
  const databaseUrl = readDatabaseUrl(read('DATABASE_URL'));
  const demo = readSwitch('DEMO', read('DEMO')) ?? databaseUrl === undefined;
  const hostname = readHostName('SMTP_HOSTNAME', read('SMTP_HOSTNAME'));
  const delivery = readDelivery(read('DELIVERY'), smtpUrl, hostname);
  refuseDirectSettings(delivery, read);
  const dataDir = resolve(read('DATA_DIR') ?? './data');
  return {
    host: read('HOST') ?? '127.0.0.1',
    port: readPort('PORT', read('PORT') ?? '3000'),
    drainSeconds: readSeconds('DRAIN_SECONDS', read('DRAIN_SECONDS') ?? '0'),
    dataDir,
    databaseUrl,
    demo,
    delivery,
    smtpUrl,
    publicUrl: readPublicUrl(
      read('PUBLIC_URL'),
      readSwitch('ALLOW_INSECURE_PUBLIC_URL', read('ALLOW_INSECURE_PUBLIC_URL')) ?? false,
    ),
    tls: readHttpTls(read),
    trustProxy: readProxies(read('TRUST_PROXY')),
    crossOrigins: readOrigins('CORS_ORIGINS', read('CORS_ORIGINS')),
    connections: readConnections(
      read('MAX_CONNECTIONS') ?? '20000',
      read('MAX_CONNECTIONS_PER_PEER'),
    ),
    attachments: {
      limit: readAttachmentLimit('ATTACHMENT_LIMIT', read('ATTACHMENT_LIMIT') ?? '10'),
      rules: readRefusedTypes('ATTACHMENT_REFUSED_TYPES', read('ATTACHMENT_REFUSED_TYPES')),
    },
    deliveryRedirect: readEmailAddress('DELIVERY_REDIRECT', read('DELIVERY_REDIRECT')),
    deliveryAllow: readDomainList('DELIVERY_ALLOW', read('DELIVERY_ALLOW')),
    refusedHeaders: readHeaderNames('REFUSED_HEADERS', read('REFUSED_HEADERS')),
    bounceServer: readBounceServer(read),
    intake: {
      snsTopics: readList(read('INTAKE_SNS_TOPICS')),
      postmarkPassword: read('INTAKE_POSTMARK_PASSWORD'),
      mailgunKey: read('INTAKE_MAILGUN_KEY'),
      sendgridKey: read('INTAKE_SENDGRID_KEY'),
    },
    smtpSubmission: readSmtpSubmission(read),
    webhookNetworks: readNetworks('WEBHOOK_NETWORKS', read('WEBHOOK_NETWORKS')),
    keepReaderAddresses:
      readSwitch('KEEP_READER_ADDRESSES', read('KEEP_READER_ADDRESSES')) ?? false,
    metrics: readMetricsAccess(read),
    inboxToken: readBearerToken('INBOX_TOKEN', read('INBOX_TOKEN')),
    auditDays: readDays('AUDIT_DAYS', read('AUDIT_DAYS') ?? '400'),
    passwordMemory: readPasswordMemory(
      'PASSWORD_MEMORY',
      read('PASSWORD_MEMORY') ?? String(minPasswordMemory),
    ),
    sessionIdleHours: readHours('SESSION_IDLE_HOURS', read('SESSION_IDLE_HOURS') ?? '12'),
    signInProvider: readSignInProvider(read),
    logLevel: readChoice('LOG_LEVEL', read('LOG_LEVEL') ?? 'info', [
      'debug',
      'info',
      'warn',
      'error',
      'silent',
    ]),
    logLines: readLogLines(read),
    key: readKey('SIGNALPOST_KEY', read('SIGNALPOST_KEY')),
    previousKey: readPreviousKey(read),
    hostname,
    dnsServers: readList(read('DNS_SERVERS')).map(parseDnsServer),
    direct: {
      sources: readList(read('DIRECT_SOURCES')).map(parseSource),
      port: readPort('DIRECT_PORT', read('DIRECT_PORT') ?? '25'),
      loopback: readSwitch('DIRECT_LOOPBACK', read('DIRECT_LOOPBACK')) ?? false,
      networks: readNetworks('DELIVERY_NETWORKS', read('DELIVERY_NETWORKS')),
    },
    systemMailFrom: readMailbox(
      'SYSTEM_MAIL_FROM',
      read('SYSTEM_MAIL_FROM') ?? (delivery === 'inbox' ? localSender : undefined),
    ),
    backup: readBackupSettings(read, dataDir, databaseUrl !== undefined),
    tracing: readTraceSettings(read),
  };
}

const defaultMaxPerPeer = 2_000;

/** By default, a peer gets at most half of the connections. */
function readConnections(totalText: string, perPeerText: string | undefined): ConnectionLimits {
  const total = capToOpenFileLimit(readCount('MAX_CONNECTIONS', totalText));
  const perPeer =
    perPeerText === undefined
      ? Math.max(1, Math.min(defaultMaxPerPeer, Math.floor(total / 2)))
      : readCount('MAX_CONNECTIONS_PER_PEER', perPeerText);
  return { total, perPeer };
}

function readMetricsAccess(read: Read): MetricsAccess {
  const isPublic = readSwitch('METRICS_PUBLIC', read('METRICS_PUBLIC')) ?? false;
  const token = readBearerToken('METRICS_TOKEN', read('METRICS_TOKEN'));
  if (isPublic && token !== undefined) {
    throw new OperatorError(
      'METRICS_PUBLIC=1 opens /metrics to everyone, so METRICS_TOKEN protects nothing; remove one of them.',
    );
  }
  return { public: isPublic, token };
}

function readPreviousKey(read: Read): string | undefined {
  const previous = readKey('SIGNALPOST_KEY_PREVIOUS', read('SIGNALPOST_KEY_PREVIOUS'));
  if (previous === undefined || read('SIGNALPOST_KEY') !== undefined) return previous;
  throw new OperatorError('SIGNALPOST_KEY_PREVIOUS requires SIGNALPOST_KEY; set both.');
}

function readBounceServer(read: Read): BounceServerConfig | undefined {
  const port = read('BOUNCE_PORT');
  if (port === undefined) {
    const unused = ['BOUNCE_HOST', 'BOUNCE_TLS_KEY', 'BOUNCE_TLS_CERT'].find((name) => read(name));
    if (unused === undefined) return undefined;
    throw new OperatorError(`${unused} is set, but nothing listens without BOUNCE_PORT; set both.`);
  }
  const tls = readCertificateFiles(read, 'BOUNCE_TLS_CERT', 'BOUNCE_TLS_KEY');
  if (tls !== undefined) readCertificate(tls);
  return {
    host: read('BOUNCE_HOST') ?? '0.0.0.0',
    port: readPort('BOUNCE_PORT', port),
    tls,
  };
}

function readSmtpSubmission(read: Read): SmtpSubmissionSettings | undefined {
  const [port, tlsPort] = [read('SUBMISSION_PORT'), read('SUBMISSION_TLS_PORT')];
  if (port === undefined && tlsPort === undefined) {
    const unused = ['SUBMISSION_HOST', 'SUBMISSION_TLS_CERT', 'SUBMISSION_TLS_KEY'].find((name) =>
      read(name),
    );
    if (unused === undefined) return undefined;
    throw new OperatorError(
      `${unused} is set, but nothing listens without SUBMISSION_PORT or SUBMISSION_TLS_PORT; set one of them.`,
    );
  }
  const tls =
    readCertificateFiles(read, 'SUBMISSION_TLS_CERT', 'SUBMISSION_TLS_KEY') ??
    readCertificateFiles(read, 'TLS_CERT', 'TLS_KEY');
  if (tls === undefined)
    throw new OperatorError(
      'SUBMISSION_PORT and SUBMISSION_TLS_PORT need a certificate, because passwords travel over them; set SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY, or TLS_CERT and TLS_KEY.',
    );
  readCertificate(tls);
  return {
    host: read('SUBMISSION_HOST') ?? '0.0.0.0',
    port: port === undefined ? undefined : readPort('SUBMISSION_PORT', port),
    tlsPort: tlsPort === undefined ? undefined : readPort('SUBMISSION_TLS_PORT', tlsPort),
    tls,
  };
}

function readHttpTls(read: Read): CertificateFiles | undefined {
  const files = readCertificateFiles(read, 'TLS_CERT', 'TLS_KEY');
  if (files === undefined) return undefined;
  readCertificate(files);
  if (read('PUBLIC_URL')?.startsWith('http:'))
    throw new OperatorError(
      'PUBLIC_URL must begin with https, because PORT speaks HTTPS with TLS_CERT and TLS_KEY.',
    );
  return files;
}

/** The files that two settings name; undefined if neither is set. @throws OperatorError if only one is */
function readCertificateFiles(
  read: Read,
  certSetting: string,
  keySetting: string,
): CertificateFiles | undefined {
  const [cert, key] = [read(certSetting), read(keySetting)];
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new OperatorError(
      `${keySetting} and ${certSetting} belong together; set both or neither.`,
    );
  return {
    cert: { setting: certSetting, path: resolve(cert) },
    key: { setting: keySetting, path: resolve(key) },
  };
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

/** Rejects settings of another delivery mode, which would be ignored silently. */
function refuseDirectSettings(delivery: DeliveryKind, read: Read): void {
  const unused = ['DIRECT_SOURCES', 'DIRECT_PORT', 'DIRECT_LOOPBACK', 'DELIVERY_NETWORKS'].find(
    (name) => read(name),
  );
  if (delivery === 'direct' || unused === undefined) return;
  throw new OperatorError(
    `${unused} is set, but DELIVERY=${delivery} does not use it; remove it, or set DELIVERY=direct.`,
  );
}

function readSmtpUrl(text: string | undefined): string | undefined {
  if (text !== undefined) readSmtpServers(text);
  return text;
}

/** What the settings say about signing in. */
export function signInSettingsOf({
  delivery,
  signInProvider,
}: Pick<Config, 'delivery' | 'signInProvider'>): SignInSettings {
  // An installation whose mail stays on this machine is for looking around.
  return { operatorSecondFactor: delivery !== 'inbox', provider: signInProvider };
}
