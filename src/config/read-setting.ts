import { isIP } from 'node:net';
import { minPasswordMemory } from '../account/hash-password.ts';
import { splitDatabaseUrl } from '../foundation/database/database-url.ts';
import { type EmailAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { OperatorError } from '../foundation/errors.ts';
import { parseMailDomain } from '../foundation/mail-domain.ts';
import { namedNetworks } from '../foundation/network/ip-address.ts';

/** Comma-separated networks. @throws OperatorError */
export function readNetworks(name: string, text: string | undefined): string[] {
  const networks = readList(text);
  for (const network of networks) {
    const [base = '', bits = '0', ...more] = network.split('/');
    const maxBits = isIP(base) === 4 ? 32 : 128;
    if (isIP(base) === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > maxBits)
      throw new OperatorError(`${name} must list networks such as 10.1.0.0/16, not "${network}".`);
  }
  return networks;
}

const maxOrigins = 100;

/** Comma-separated origins, as browsers send them. @throws OperatorError */
export function readOrigins(name: string, text: string | undefined): string[] {
  const origins = readList(text);
  if (origins.length > maxOrigins)
    throw new OperatorError(`${name} can list at most ${maxOrigins} origins.`);
  for (const origin of origins)
    if (!/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new OperatorError(
        `${name} must list origins such as https://app.example.com, without a path, not "${origin}".`,
      );
  return origins;
}

/** Comma-separated networks or network names. @throws OperatorError */
export function readProxies(text: string | undefined): string[] {
  const proxies = readList(text);
  const unnamed = proxies.filter((proxy) => !Object.hasOwn(namedNetworks, proxy));
  readNetworks('TRUST_PROXY', unnamed.join());
  return proxies;
}

/** An email address. @throws OperatorError */
export function readEmailAddress(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return parsed.address;
  throw new OperatorError(`${name} must be an email address, not "${text}": it ${parsed.reason}.`);
}

/** An address with an optional display name. */
export interface SenderMailbox {
  readonly address: EmailAddress;
  readonly name: string | undefined;
}

/** `address`, or `Name <address>`. @throws OperatorError */
export function readMailbox(name: string, text: string | undefined): SenderMailbox | undefined {
  if (text === undefined) return undefined;
  const [, shown = '', inside] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? [];
  const parsed = parseEmailAddress((inside ?? text).trim());
  const label = shown.trim().replace(/^"(.*)"$/, '$1');
  if (!parsed.ok || /\p{Cc}/u.test(label))
    throw new OperatorError(
      `${name} must be an email address, with or without a name, such as Example <no-reply@example.com>, not "${text}".`,
    );
  return { address: parsed.address, name: label === '' ? undefined : label };
}

/** Comma-separated domains, as A-labels. @throws OperatorError */
export function readDomainList(name: string, text: string | undefined): string[] {
  return readList(text).map((domain) => {
    const parsed = parseMailDomain(domain);
    if (parsed !== undefined) return parsed;
    throw new OperatorError(`${name} must list domains such as example.com, not "${domain}".`);
  });
}

/**
 * The host name of a mail server, as A-labels. It is used in EHLO and Message-IDs, and receivers reject mail with an
 * invalid one (RFC 5321 section 4.1.1.1). A single label is enough for a relay on the same network.
 * @throws OperatorError
 */
export function readHostName(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseMailDomain(text, { allowOneLabel: true });
  if (parsed !== undefined) return parsed;
  throw new OperatorError(`${name} must be a host name, such as mail.example.com, not "${text}".`);
}

/** A port; 0 means any free port. @throws OperatorError */
export function readPort(name: string, text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new OperatorError(`${name} must be a number from 0 to 65535, not "${text}".`);
  }
  return port;
}

/** A positive number. @throws OperatorError */
export function readCount(name: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new OperatorError(`${name} must be a whole number from 1 to 9999999, not "${text}".`);
}

/** A number of days. @throws OperatorError */
export function readDays(name: string, text: string): number {
  const days = Number(text);
  if (!/^\d{1,5}$/.test(text)) {
    throw new OperatorError(`${name} must be a number of days from 0 to 99999, not "${text}".`);
  }
  return days;
}

/** MiB for hashing a password. @throws OperatorError */
export function readPasswordMemory(name: string, text: string): number {
  const memory = Number(text);
  if (/^\d{2,4}$/.test(text) && memory >= minPasswordMemory && memory <= 1_024) return memory;
  throw new OperatorError(
    `${name} must be a number of MiB from ${minPasswordMemory} to 1024, not "${text}".`,
  );
}

/** A number of hours, up to a week. @throws OperatorError */
export function readHours(name: string, text: string): number {
  const hours = Number(text);
  if (/^[1-9]\d{0,2}$/.test(text) && hours <= 168) return hours;
  throw new OperatorError(`${name} must be a number of hours from 1 to 168, not "${text}".`);
}

/** A number of seconds, up to five minutes. @throws OperatorError */
export function readSeconds(name: string, text: string): number {
  const seconds = Number(text);
  if (/^\d{1,3}$/.test(text) && seconds <= 300) return seconds;
  throw new OperatorError(`${name} must be a number of seconds from 0 to 300, not "${text}".`);
}

/** `1` or `0`. @throws OperatorError */
export function readSwitch(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw new OperatorError(`${name} must be 1 or 0, not "${text}".`);
}

/** One of several words. @throws OperatorError */
export function readChoice<Choice extends string>(
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

/** A PostgreSQL URL. @throws OperatorError */
export function readDatabaseUrl(text: string | undefined): string | undefined {
  if (text !== undefined) splitDatabaseUrl(text);
  return text;
}

/**
 * A base URL without a query or a trailing slash.
 * @param allowInsecure allow http for hosts other than this machine
 * @throws OperatorError
 */
export function readPublicUrl(
  text: string | undefined,
  allowInsecure: boolean,
): string | undefined {
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

/** A Bearer token (RFC 6750 section 2.1) too long to guess. @throws OperatorError */
export function readBearerToken(name: string, text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z0-9._~+/-]{16,512}=*$/.test(text)) return text;
  throw new OperatorError(
    `${name} must be 16 to 512 letters, digits or -._~+/; \`openssl rand -hex 32\` generates one.`,
  );
}

/** 32 bytes in base64. @throws OperatorError */
export function readKey(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (Buffer.from(text, 'base64').length !== 32) {
    throw new OperatorError(
      `${name} must be 32 bytes in base64; \`openssl rand -base64 32\` generates one.`,
    );
  }
  return text;
}

/** Comma-separated header names; `*` at the end matches anything. @throws OperatorError */
export function readHeaderNames(name: string, text: string | undefined): string[] {
  return readList(text).map((header) => {
    if (/^[A-Za-z0-9._-]+\*?$/.test(header)) return header;
    throw new OperatorError(
      `${name} must list header names such as X-Priority or X-Internal-*, not "${header}".`,
    );
  });
}

/** Splits a comma-separated list. */
export function readList(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
