import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isLoopback } from '../../accounts/sign-in/single-sign-on/provider-fetch.ts';
import {
  isProviderRole,
  type ProviderMemberRule,
  providerRoles,
} from '../../accounts/sign-in/single-sign-on/sign-in-provider.ts';
import { splitDatabaseUrl } from '../../base/database/database-url.ts';
import { codeOf } from '../../base/database/sqlstate.ts';
import { type DnsServer, parseDnsServer } from '../../base/dns/dns-server.ts';
import { namedNetworks } from '../../base/network/ip-address.ts';
import { type EmailAddress, parseEmailAddress } from '../../base/values/email-address.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { parseAccountId } from '../../base/values/ids.ts';
import { parseMailDomain } from '../../base/values/mail-domain.ts';
import { dropInNames } from '../../drop-in/provider/drop-in.ts';
import { parseRecipients } from '../../host/backup/backup-encryption.ts';
import { parseSource, type Source } from '../../sending/delivery/direct/source-pools.ts';
import { readSmtpServers } from '../../sending/delivery/smtp-server-settings.ts';
import {
  type AttachmentRules,
  readAttachmentRules,
} from '../../sending/submission/attachment-types.ts';
import { anyText, list, type SettingType } from './setting.ts';

/** A network such as `10.1.0.0/16`. */
export const network: SettingType<string> = (name, given) => {
  const [base = '', bits = '0', ...more] = given.split('/');
  const maxBits = isIP(base) === 4 ? 32 : 128;
  if (isIP(base) !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits)
    return given;
  throw new OperatorError(`${name} must list networks such as 10.1.0.0/16, not "${given}".`);
};

/** A network, or the name of one. */
export const proxy: SettingType<string> = (name, given) =>
  Object.hasOwn(namedNetworks, given) ? given : network(name, given);

const maxOrigins = 100;

/** Comma-separated origins, as browsers send them. */
export const origins: SettingType<readonly string[]> = (name, given) => {
  const all = list(anyText)(name, given);
  if (all.length > maxOrigins)
    throw new OperatorError(`${name} can list at most ${maxOrigins} origins.`);
  for (const origin of all)
    if (!/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new OperatorError(
        `${name} must list origins such as https://app.example.com, without a path, not "${origin}".`,
      );
  return all;
};

/** Comma-separated `host=provider`. */
export const dropInHosts: SettingType<ReadonlyMap<string, string>> = (name, given) => {
  const providers: readonly string[] = dropInNames;
  return new Map(
    list(anyText)(name, given).map((entry) => {
      const [host = '', provider = '', ...rest] = entry.toLowerCase().split('=');
      if (!providers.includes(provider) || rest.length > 0)
        throw new OperatorError(
          `${name} must list host names and providers (${providers.join(', ')}) such as resend.mail.example=resend, not "${entry}".`,
        );
      return [hostName(name, host), `/${provider}`];
    }),
  );
};

export const emailAddress: SettingType<EmailAddress> = (name, given) => {
  const parsed = parseEmailAddress(given);
  if (parsed.ok) return parsed.address;
  throw new OperatorError(`${name} must be an email address, not "${given}": it ${parsed.reason}.`);
};

/** An address with an optional display name. */
interface SenderMailbox {
  readonly address: EmailAddress;
  readonly name: string | undefined;
}

/** `address`, or `Name <address>`. */
export const mailbox: SettingType<SenderMailbox> = (name, given) => {
  const [, shown = '', inside] = /^([^<>]*)<([^<>]*)>$/.exec(given) ?? [];
  const parsed = parseEmailAddress((inside ?? given).trim());
  const label = shown.trim().replace(/^"(.*)"$/, '$1');
  if (!parsed.ok || /\p{Cc}/u.test(label))
    throw new OperatorError(
      `${name} must be an email address, with or without a name, such as Example <no-reply@example.com>, not "${given}".`,
    );
  return { address: parsed.address, name: label === '' ? undefined : label };
};

/** A domain, as A-labels. */
export const domain: SettingType<string> = (name, given) => {
  const parsed = parseMailDomain(given);
  if (parsed !== undefined) return parsed;
  throw new OperatorError(`${name} must list domains such as example.com, not "${given}".`);
};

/**
 * The host name of a mail server, as A-labels. It is used in EHLO and Message-IDs, and receivers reject mail with an
 * invalid one (RFC 5321 section 4.1.1.1). A single label is enough for a relay on the same network.
 */
export const hostName: SettingType<string> = (name, given) => {
  const parsed = parseMailDomain(given, { allowOneLabel: true });
  if (parsed !== undefined) return parsed;
  throw new OperatorError(`${name} must be a host name, such as mail.example.com, not "${given}".`);
};

export const dnsServer: SettingType<DnsServer> = (_name, given) => parseDnsServer(given);

export const source: SettingType<Source> = (_name, given) => parseSource(given);

/** A PostgreSQL URL. */
export const databaseUrl: SettingType<string> = (_name, given) => {
  splitDatabaseUrl(given);
  return given;
};

/** The URLs of relays. */
export const smtpUrl: SettingType<string> = (_name, given) => {
  readSmtpServers(given);
  return given;
};

/** A Bearer token (RFC 6750 section 2.1) too long to guess. */
export const bearerToken: SettingType<string> = (name, given) => {
  if (/^[A-Za-z0-9._~+/-]{16,512}=*$/.test(given)) return given;
  throw new OperatorError(
    `${name} must be 16 to 512 letters, digits or -._~+/; \`openssl rand -hex 32\` generates one.`,
  );
};

/** 32 bytes in base64. */
export const masterKey: SettingType<string> = (name, given) => {
  if (Buffer.from(given, 'base64').length === 32) return given;
  throw new OperatorError(
    `${name} must be 32 bytes in base64; \`openssl rand -base64 32\` generates one.`,
  );
};

/** The name of a header; `*` at the end matches anything. */
export const headerName: SettingType<string> = (name, given) => {
  if (/^[A-Za-z0-9._-]+\*?$/.test(given)) return given;
  throw new OperatorError(
    `${name} must list header names such as X-Priority or X-Internal-*, not "${given}".`,
  );
};

export const attachmentRules: SettingType<AttachmentRules> = (name, given) => {
  const rules = readAttachmentRules(list(anyText)(name, given));
  if (typeof rules !== 'string') return rules;
  throw new OperatorError(
    `${name} must list extensions such as .exe, types such as application/x-msdownload, mismatch, default or none, not "${rules}".`,
  );
};

export const backupRecipients: SettingType<readonly string[]> = (name, given) =>
  parseRecipients(name, list(anyText)(name, given));

/** The URL of an S3 service, without a slash at the end. */
export const s3Endpoint: SettingType<string> = (name, given) => {
  const url = URL.parse(given);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || /[?#]/.test(given))
    throw new OperatorError(
      `${name} must be the URL of the S3 service without a bucket, such as https://s3.eu-central-1.amazonaws.com.`,
    );
  return given.replace(/\/+$/, '');
};

/** OpenID Connect Discovery section 3: an https URL without query and fragment. */
export const issuer: SettingType<string> = (name, given) => {
  const url = URL.parse(given);
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url !== null && isSafe && !/[?#]/.test(given) && url.username + url.password === '')
    return given;
  throw new OperatorError(
    `${name} must be an https URL without a query, such as https://login.example.com, not "${given}".`,
  );
};

const maxMemberRules = 1_000;

/** Comma-separated rules of who becomes a member of which account. */
export const memberRules: SettingType<readonly ProviderMemberRule[]> = (name, given) => {
  const rules = list(anyText)(name, given);
  if (rules.length > maxMemberRules)
    throw new OperatorError(`${name} can have at most ${maxMemberRules} rules.`);
  return rules.map((rule) => {
    const [, account = '', role = '', who = ''] = /^([^:]*):([^:]*):(.+)$/.exec(rule) ?? [];
    const accountId = parseAccountId(account);
    const whose = who.startsWith('@') ? parseMailDomain(who.slice(1)) : undefined;
    if (accountId === undefined || !isProviderRole(role) || (who.startsWith('@') && !whose))
      throw new OperatorError(
        `${name} must list account:role:group or account:role:@domain with a role of ${providerRoles.join(', ')}, such as 1000:developer:engineering, not "${rule}".`,
      );
    return { accountId, role, who: whose === undefined ? { group: who } : { domain: whose } };
  });
};

/** The URL of an OpenTelemetry collector, without credentials, which would be in the log of a failed export. */
export const collectorUrl: SettingType<string> = (name, given) => {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '')
    return given;
  throw new OperatorError(
    `${name} must be the http or https URL of a collector, such as http://127.0.0.1:4318. Put credentials into OTEL_EXPORTER_OTLP_HEADERS.`,
  );
};

/** Headers of exports. They are a secret, so errors don't repeat them. */
export const exportHeaders: SettingType<Record<string, string>> = (name, given) => {
  const headers = readPairs(given);
  const isHeader = ([header, value]: [string, string]): boolean =>
    /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(header) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
  if (headers !== undefined && Object.entries(headers).every(isHeader)) return headers;
  throw new OperatorError(
    `${name} must list headers such as api-key=secret, separated by commas; encode other characters as in a URL.`,
  );
};

/** Attributes of exports. */
export const attributes: SettingType<Record<string, string>> = (name, given) => {
  const pairs = readPairs(given);
  if (pairs !== undefined) return pairs;
  throw new OperatorError(
    `${name} must list attributes such as deployment.environment.name=production, separated by commas, not "${given}".`,
  );
};

/** `name=value` pairs with percent-encoded values; undefined if malformed. */
function readPairs(given: string): Record<string, string> | undefined {
  const pairs: Record<string, string> = {};
  for (const member of given.split(',')) {
    if (member.trim() === '') continue;
    const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(member) ?? [];
    if (name === '') return undefined;
    try {
      pairs[name] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return pairs;
}

/** A share from 0 to 1. */
export const share: SettingType<number> = (name, given) => {
  const value = Number(given);
  if (/^(?:\d+\.?\d*|\.\d+)$/.test(given) && value <= 1) return value;
  throw new OperatorError(`${name} must be a share from 0 to 1, such as 0.1, not "${given}".`);
};

/** The text of a file. */
export const file: SettingType<string> = (name, path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new OperatorError(`${name} names ${path}, which can’t be read (${codeOf(cause)}).`, {
      cause,
    });
  }
};
