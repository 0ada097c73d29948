import { resolve } from 'node:path';
import type { SignInSettings } from '../../accounts/access/authorize.ts';
import { PublicNetworks } from '../../base/network/public-networks.ts';
import { OperatorError } from '../../base/values/errors.ts';
import {
  type ConnectionLimits,
  capToOpenFileLimit,
} from '../../host/http/limits/limit-connections.ts';
import { mebibyte } from '../../host/http/limits/route-limits.ts';
import { type CertificateFiles, readCertificate } from '../../host/http/tls/live-certificate.ts';
import type { SmtpSubmissionSettings } from '../../sending/smtp-submission/smtp-submission-module.ts';
import { findSettingWarnings } from './find-setting-warnings.ts';
import { readBackupSettings } from './read-backup-settings.ts';
import { readSecretFiles } from './read-secret-files.ts';
import { readSignInProvider } from './read-sign-in-provider.ts';
import { readTraceSettings } from './read-trace-settings.ts';
import { refuseRemovedSettings } from './removed-settings.ts';
import { mailbox } from './setting-types.ts';
import { SettingReader } from './settings-table.ts';

/** The settings as the service uses them; an undefined one is not set. */
export interface Config extends ReturnType<typeof readSettings> {
  /** Variables that look like settings but have no effect, with what to do instead. */
  readonly settingWarnings: readonly string[];
}

/** Mail that never leaves the machine needs no real sender. */
const localSender = 'Signalpost <signalpost@localhost.localdomain>';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment once. An empty variable counts as not set.
 * @throws OperatorError if a value is invalid, settings contradict each other or one was removed; it says what to change
 */
export function readConfig(given: Environment): Config {
  refuseRemovedSettings(given);
  const settingWarnings = findSettingWarnings(given);
  try {
    return { ...readSettings(new SettingReader(readSecretFiles(given))), settingWarnings };
  } catch (error) {
    // A setting may be missing because its name is misspelled.
    if (!(error instanceof OperatorError) || settingWarnings.length === 0) throw error;
    throw new OperatorError([error.message, ...settingWarnings].join('\n'), { cause: error });
  }
}

function readSettings(given: SettingReader) {
  const delivery = readDelivery(given);
  const dataDir = resolve(given.read('DATA_DIR'));
  const databaseUrl = given.read('DATABASE_URL');
  const messageLines = given.read('LOG_MESSAGES');
  return {
    host: given.read('HOST'),
    port: given.read('PORT'),
    drainSeconds: given.read('DRAIN_SECONDS'),
    dataDir,
    /** Undefined: the embedded database under `dataDir`. */
    databaseUrl,
    demo: given.read('DEMO') ?? databaseUrl === undefined,
    delivery,
    smtpUrl: given.read('SMTP_URL'),
    /** The public base URL, without a trailing slash; undefined until the port is known. */
    publicUrl: readPublicUrl(given),
    /** The certificate of the HTTP port; undefined: it speaks plain HTTP. */
    tls: readHttpTls(given),
    trustProxy: given.read('TRUST_PROXY'),
    /** Origins whose pages can call the API. */
    crossOrigins: given.read('CORS_ORIGINS'),
    connections: readConnections(given),
    /** What comes before the path of requests to a host, by host name. */
    dropInHosts: given.read('DROP_IN_HOSTS'),
    attachments: {
      limit: given.read('ATTACHMENT_LIMIT') * mebibyte,
      rules: given.read('ATTACHMENT_REFUSED_TYPES'),
    },
    deliveryRedirect: given.read('DELIVERY_REDIRECT'),
    deliveryAllow: given.read('DELIVERY_ALLOW'),
    /** Headers that requests must not set, besides the reserved ones; `*` at the end matches anything. */
    refusedHeaders: given.read('REFUSED_HEADERS'),
    /** The server that receives bounces and complaints by mail; undefined: none. */
    bounceServer: readBounceServer(given),
    /** Credentials of the relays that report by webhook. */
    intake: {
      snsTopics: given.read('INTAKE_SNS_TOPICS'),
      postmarkPassword: given.read('INTAKE_POSTMARK_PASSWORD'),
      mailgunKey: given.read('INTAKE_MAILGUN_KEY'),
      sendgridKey: given.read('INTAKE_SENDGRID_KEY'),
    },
    /** Message submission over SMTP; undefined: off. */
    smtpSubmission: readSmtpSubmission(given),
    webhookNetworks: given.read('WEBHOOK_NETWORKS'),
    outboxNetworks: new PublicNetworks(given.read('OUTBOX_NETWORKS')),
    keepReaderAddresses: given.read('KEEP_READER_ADDRESSES'),
    metrics: readMetricsAccess(given),
    inboxToken: given.read('INBOX_TOKEN'),
    /** Days that the audit log is kept; 0: forever. */
    auditDays: given.read('AUDIT_DAYS'),
    /** MiB that hashing a password takes. */
    passwordMemory: given.read('PASSWORD_MEMORY'),
    sessionIdleHours: given.read('SESSION_IDLE_HOURS'),
    /** The installation's provider of OpenID Connect; undefined: none. */
    signInProvider: readSignInProvider(given),
    logLevel: given.read('LOG_LEVEL'),
    /** Lines that are written only if the operator asks for them. */
    logLines: {
      access: given.read('LOG_ACCESS'),
      audit: given.read('LOG_AUDIT'),
      /** One for each event of a message, with or without the recipient's address; undefined: none. */
      messages: ({ '0': undefined, '1': 'events', addresses: 'addresses' } as const)[messageLines],
    },
    /** Undefined: a key file in `dataDir`. */
    key: given.read('SIGNALPOST_KEY'),
    /** The previous key, or the one still in use, while the master key is rotated. */
    previousKey: readPreviousKey(given),
    hostname: given.read('SMTP_HOSTNAME'),
    /** DNS resolvers; empty: those of the system. */
    dnsServers: given.read('DNS_SERVERS'),
    direct: {
      /** Addresses to send from; empty: the system chooses. */
      sources: given.read('DIRECT_SOURCES'),
      port: given.read('DIRECT_PORT'),
      loopback: given.read('DIRECT_LOOPBACK'),
      networks: given.read('DELIVERY_NETWORKS'),
    },
    /** Sender of system mail; undefined: none is sent. */
    systemMailFrom:
      given.read('SYSTEM_MAIL_FROM') ??
      (delivery === 'inbox' ? mailbox('SYSTEM_MAIL_FROM', localSender) : undefined),
    backup: readBackupSettings(given, dataDir),
    /** Undefined: traces are off. */
    tracing: readTraceSettings(given),
  };
}

/** By default, a peer gets at most half of the connections. */
function readConnections(given: SettingReader): ConnectionLimits {
  const total = capToOpenFileLimit(given.read('MAX_CONNECTIONS'));
  const perPeer = given.read('MAX_CONNECTIONS_PER_PEER');
  const isChosen = given.isSet('MAX_CONNECTIONS_PER_PEER');
  return {
    total,
    perPeer: isChosen ? perPeer : Math.max(1, Math.min(perPeer, Math.floor(total / 2))),
  };
}

/** Who can read `/metrics`: everyone, or only clients with the token. Without a token, nobody can. */
function readMetricsAccess(given: SettingReader) {
  const isPublic = given.read('METRICS_PUBLIC');
  const token = given.read('METRICS_TOKEN');
  if (isPublic && token !== undefined) {
    throw new OperatorError(
      'METRICS_PUBLIC=1 opens /metrics to everyone, so METRICS_TOKEN protects nothing; remove one of them.',
    );
  }
  return { public: isPublic, token };
}

function readPreviousKey(given: SettingReader): string | undefined {
  const previous = given.read('SIGNALPOST_KEY_PREVIOUS');
  if (previous === undefined || given.isSet('SIGNALPOST_KEY')) return previous;
  throw new OperatorError('SIGNALPOST_KEY_PREVIOUS requires SIGNALPOST_KEY; set both.');
}

/** A base URL without a query or a trailing slash. */
function readPublicUrl(given: SettingReader): string | undefined {
  const text = given.read('PUBLIC_URL');
  const allowInsecure = given.read('ALLOW_INSECURE_PUBLIC_URL');
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  // A bare ? or # leaves no trace in the URL's properties, but would swallow the path of every link.
  if (url === null || !['http:', 'https:'].includes(url.protocol) || /[?#]/.test(text)) {
    throw new OperatorError(
      'PUBLIC_URL must be an http or https URL without a query, such as https://mail.example.com.',
    );
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !allowInsecure) {
    throw new OperatorError(
      `PUBLIC_URL=${text} would send passwords and tokens unencrypted; use https, or set ALLOW_INSECURE_PUBLIC_URL=1 if the network is trusted.`,
    );
  }
  return text.replace(/\/+$/, '');
}

/** Names below `localhost` never leave the machine (RFC 6761 section 6.3). */
function isLoopbackHost(hostname: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:[^.]+\.)*localhost\.?)$/.test(hostname);
}

/** The SMTP server for bounces and complaints. */
function readBounceServer(given: SettingReader) {
  const port = given.read('BOUNCE_PORT');
  if (port === undefined) {
    given.refuse(
      ['BOUNCE_HOST', 'BOUNCE_TLS_KEY', 'BOUNCE_TLS_CERT'],
      'nothing listens without BOUNCE_PORT; set both.',
    );
    return undefined;
  }
  const tls = readCertificateFiles(given, 'BOUNCE_TLS');
  if (tls !== undefined) readCertificate(tls);
  return { host: given.read('BOUNCE_HOST'), port, tls };
}

function readSmtpSubmission(given: SettingReader): SmtpSubmissionSettings | undefined {
  const [port, tlsPort] = [given.read('SUBMISSION_PORT'), given.read('SUBMISSION_TLS_PORT')];
  if (port === undefined && tlsPort === undefined) {
    given.refuse(
      ['SUBMISSION_HOST', 'SUBMISSION_TLS_CERT', 'SUBMISSION_TLS_KEY'],
      'nothing listens without SUBMISSION_PORT or SUBMISSION_TLS_PORT; set one of them.',
    );
    return undefined;
  }
  const tls = readCertificateFiles(given, 'SUBMISSION_TLS') ?? readCertificateFiles(given, 'TLS');
  if (tls === undefined)
    throw new OperatorError(
      'SUBMISSION_PORT and SUBMISSION_TLS_PORT need a certificate, because passwords travel over them; set SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY, or TLS_CERT and TLS_KEY.',
    );
  readCertificate(tls);
  return { host: given.read('SUBMISSION_HOST'), port, tlsPort, tls };
}

function readHttpTls(given: SettingReader): CertificateFiles | undefined {
  const files = readCertificateFiles(given, 'TLS');
  if (files === undefined) return undefined;
  readCertificate(files);
  if (given.read('PUBLIC_URL')?.startsWith('http:'))
    throw new OperatorError(
      'PUBLIC_URL must begin with https, because PORT speaks HTTPS with TLS_CERT and TLS_KEY.',
    );
  return files;
}

/** The files that two settings name; undefined if neither is set. @throws OperatorError if only one is */
function readCertificateFiles(
  given: SettingReader,
  prefix: 'TLS' | 'BOUNCE_TLS' | 'SUBMISSION_TLS',
): CertificateFiles | undefined {
  const [certSetting, keySetting] = [`${prefix}_CERT`, `${prefix}_KEY`] as const;
  const [cert, key] = [given.read(certSetting), given.read(keySetting)];
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

/** How messages leave: to the local inbox, to an SMTP relay, or directly to the recipients' servers. */
function readDelivery(given: SettingReader) {
  const smtpUrl = given.read('SMTP_URL');
  const hostname = given.read('SMTP_HOSTNAME');
  const kind = given.read('DELIVERY') ?? (smtpUrl === undefined ? 'inbox' : 'relay');
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
  // They would be ignored silently.
  if (kind !== 'direct')
    given.refuse(
      ['DIRECT_SOURCES', 'DIRECT_PORT', 'DIRECT_LOOPBACK', 'DELIVERY_NETWORKS'],
      `DELIVERY=${kind} does not use it; remove it, or set DELIVERY=direct.`,
    );
  return kind;
}

/** What the settings say about signing in. */
export function signInSettingsOf({
  delivery,
  signInProvider,
}: Pick<Config, 'delivery' | 'signInProvider'>): SignInSettings {
  // An installation whose mail stays on this machine is for looking around.
  return { operatorSecondFactor: delivery !== 'inbox', provider: signInProvider };
}
