import { OperatorError } from '../../base/values/errors.ts';

export type TlsUse =
  /** Encrypted and verified, or nothing is sent. */
  | 'required'
  /** Plaintext if encryption isn't offered, verified if it is. */
  | 'optional'
  /** Plaintext. */
  | 'off'
  /** Encrypted if offered, without verification. */
  | 'unverified';

/** A server that accepts our mail, and how to connect to it. */
export interface SmtpServerSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (RFC 8314 section 3.3) instead of STARTTLS (RFC 3207). */
  readonly implicitTls: boolean;
  readonly tls: TlsUse;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** SASL mechanism; undefined: the first that both sides support. */
  readonly mechanism: string | undefined;
  /** Max concurrent connections. */
  readonly connections: number;
  /** Max messages per connection. */
  readonly messagesPerConnection: number;
  /** Name expected in the certificate; undefined: the host. */
  readonly serverName?: string;
  /** Local address to connect from; undefined: the system chooses. */
  readonly localAddress?: string;
  /** CA certificates in PEM to trust instead of the default ones. */
  readonly ca?: string;
}

const tlsUses: readonly TlsUse[] = ['required', 'optional', 'off', 'unverified'];
const mechanisms = ['PLAIN', 'LOGIN', 'CRAM-MD5'];

/**
 * Parses one relay URL: `smtp://user:password@host:587?tls=required&connections=10`. By default, TLS is required if
 * there is a password and optional otherwise.
 * @throws OperatorError that says what to change, without the password
 */
function readSmtpServer(text: string): SmtpServerSettings {
  const url = URL.parse(text);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new OperatorError(
      'SMTP_URL must look like smtp://user:password@host:587 or smtps://user:password@host:465.',
    );
  }
  const implicitTls = url.protocol === 'smtps:';
  const user = url.username === '' ? undefined : decode(url.username);
  const allowed = new Set(['tls', 'connections', 'messages', 'auth']);
  const unknownName = [...url.searchParams.keys()].find((name) => !allowed.has(name));
  if (unknownName !== undefined)
    throw new OperatorError(
      `SMTP_URL has no option "${unknownName}". Use tls, auth, connections or messages.`,
    );
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (implicitTls ? 465 : 587)),
    implicitTls,
    tls: readTls(url.searchParams.get('tls'), implicitTls, user !== undefined),
    user,
    password: user === undefined ? undefined : decode(url.password),
    mechanism: readMechanism(url.searchParams.get('auth')),
    connections: readCount('connections', url.searchParams.get('connections'), 10, 1_000),
    messagesPerConnection: readCount('messages', url.searchParams.get('messages'), 100, 100_000),
  };
}

/**
 * Parses SMTP_URL: one or more relays separated by spaces, preferred one first.
 * @throws OperatorError that says what to change
 */
export function readSmtpServers(text: string): SmtpServerSettings[] {
  return text.split(/\s+/).filter(Boolean).map(readSmtpServer);
}

/** The built-in inbox, on loopback without TLS. */
export function inboxServer(port: number): SmtpServerSettings {
  return {
    host: '127.0.0.1',
    port,
    implicitTls: false,
    tls: 'off',
    user: undefined,
    password: undefined,
    mechanism: undefined,
    connections: 10,
    messagesPerConnection: 10_000,
  };
}

function readTls(text: string | null, implicitTls: boolean, credentials: boolean): TlsUse {
  if (text === null) return implicitTls || credentials ? 'required' : 'optional';
  const found = tlsUses.find((use) => use === text);
  if (found === undefined)
    throw new OperatorError(`tls in SMTP_URL must be one of ${tlsUses.join(', ')}, not "${text}".`);
  if (implicitTls && found === 'off')
    throw new OperatorError('smtps:// always uses TLS; write smtp:// with tls=off for none.');
  return found;
}

function readMechanism(text: string | null): string | undefined {
  if (text === null) return undefined;
  const found = mechanisms.find((mechanism) => mechanism === text.toUpperCase());
  if (found === undefined)
    throw new OperatorError(`auth in SMTP_URL must be one of ${mechanisms.join(', ')}.`);
  return found;
}

function readCount(name: string, text: string | null, defaultCount: number, max: number): number {
  if (text === null) return defaultCount;
  const count = Number(text);
  if (!/^\d{1,6}$/.test(text) || count < 1 || count > max)
    throw new OperatorError(`${name} in SMTP_URL must be a number from 1 to ${max}.`);
  return count;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new OperatorError(
      'The user or password in SMTP_URL contains a literal %. Write it as %25.',
    );
  }
}
