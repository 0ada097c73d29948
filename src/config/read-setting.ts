import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type EmailAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { OperatorError } from '../foundation/errors.ts';
import { parseMailDomain } from '../foundation/mail-domain.ts';
import { namedNetworks } from '../foundation/network/block-list.ts';

/** Networks with commas between them. @throws OperatorError */
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

/** Networks, or names that stand for some, with commas between them. @throws OperatorError */
export function readProxies(text: string | undefined): string[] {
  const proxies = readList(text);
  const unnamed = proxies.filter((proxy) => !Object.hasOwn(namedNetworks, proxy));
  readNetworks('TRUST_PROXY', unnamed.join());
  return proxies;
}

/** An e-mail address. @throws OperatorError */
export function readEmailAddress(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return parsed.address;
  throw new OperatorError(`${name} must be an e-mail address, not "${text}": it ${parsed.reason}.`);
}

/** An address, with or without the name to show beside it. */
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
      `${name} must be an e-mail address, with or without a name, such as Example <no-reply@example.com>, not "${text}".`,
    );
  return { address: parsed.address, name: label === '' ? undefined : label };
}

/** Domains with commas between them, in A-labels. @throws OperatorError */
export function readDomainList(name: string, text: string | undefined): string[] {
  return readList(text).map((domain) => {
    const parsed = parseMailDomain(domain);
    if (parsed !== undefined) return parsed;
    throw new OperatorError(`${name} must list domains such as example.com, not "${domain}".`);
  });
}

/**
 * The name of a mail server in A-labels. It is said in EHLO and stands in Message-IDs, where what is no name would make every
 * receiver refuse mail (RFC 5321 section 4.1.1.1). One label alone will do for a relay on the same network.
 * @throws OperatorError
 */
export function readHostName(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseMailDomain(text, { allowOneLabel: true });
  if (parsed !== undefined) return parsed;
  throw new OperatorError(
    `${name} must be the name of a host, such as mail.example.com, not "${text}".`,
  );
}

/** The texts of the files that settings name with a private key and its certificate. @throws OperatorError */
export function readTls(
  [keyName, keyFile]: readonly [name: string, file: string],
  [certName, certFile]: readonly [name: string, file: string],
): { readonly key: string; readonly cert: string } {
  const tls = { key: readText(keyName, keyFile), cert: readText(certName, certFile) };
  if (belongTogether(tls)) return tls;
  throw new OperatorError(
    `${keyName} and ${certName} must name a private key and its certificate, both in PEM.`,
  );
}

function belongTogether({ key, cert }: { readonly key: string; readonly cert: string }): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function readText(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OperatorError(`${name} names ${file}, which cannot be read.`, { cause });
  }
}

/** A port, 0 for any that is free. @throws OperatorError */
export function readPort(name: string, text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new OperatorError(`${name} must be a number from 0 to 65535, not "${text}".`);
  }
  return port;
}

/** A number from 1 up. @throws OperatorError */
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

/** `1` or `0`. @throws OperatorError */
export function readSwitch(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw new OperatorError(`${name} must be 1 or 0, not "${text}".`);
}

/** One of a few words. @throws OperatorError */
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

/** The address of a PostgreSQL. @throws OperatorError */
export function readDatabaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw new OperatorError('DATABASE_URL must look like postgres://user:password@host:5432/name.');
  }
  return text;
}

/**
 * An address without a query, and without the slash at its end.
 * @param allowInsecure it may be http although its host is not this machine
 * @throws OperatorError
 */
export function readPublicUrl(
  text: string | undefined,
  allowInsecure: boolean,
): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  // A bare ? or # leaves no trace in the URL's members, and would swallow the path of every link.
  if (url === null || !['http:', 'https:'].includes(url.protocol) || /[?#]/.test(text)) {
    throw new OperatorError(
      'PUBLIC_URL must be an http or https address without a query, such as https://mail.example.com.',
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

/** A token that programs send as Bearer token (RFC 6750 section 2.1), too long to be guessed. @throws OperatorError */
export function readBearerToken(name: string, text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z0-9._~+/-]{16,512}=*$/.test(text)) return text;
  throw new OperatorError(
    `${name} must be 16 to 512 letters, digits, or -._~+/; \`openssl rand -hex 32\` makes one.`,
  );
}

/** 32 bytes in base64. @throws OperatorError */
export function readKey(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (Buffer.from(text, 'base64').length !== 32) {
    throw new OperatorError(
      `${name} must be 32 bytes in base64; \`openssl rand -base64 32\` makes one.`,
    );
  }
  return text;
}

/** What stands between commas. */
export function readList(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
