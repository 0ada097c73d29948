import { isIP } from 'node:net';
import type { StrangersServer } from '../../base/network/guarded-postgres.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';

/** Where the URL of a source leads, or why it can't be used: a reason that follows the name of its field. */
export type ParsedSourceUrl =
  | { readonly url: string; readonly server: StrangersServer; readonly shown: string }
  | { readonly reason: string };

export const maxSourceUrlLength = 2_000;

const defaultPort = 5432;

/**
 * Parses the URL of a source: `postgres://user:password@host:5432/database`, with `?sslmode=disable` for a server without TLS in a
 * network that the operator allows. Other parameters are refused, because those of libpq can name files and sockets of this machine.
 * Names are resolved and checked on each connection; addresses and local names can be refused now.
 */
export function parseSourceUrl(text: string, networks: PublicNetworks): ParsedSourceUrl {
  const url = text.length > maxSourceUrlLength ? null : URL.parse(text.trim());
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
    return { reason: 'must look like postgres://user:password@host:5432/database' };
  const parts = [url.username, url.password, url.hostname, url.pathname.slice(1)].map(decode);
  const [user = '', password = '', hostname = '', database = ''] = parts;
  if (parts.some((part) => part === undefined || part === '' || part.includes('\0')))
    return { reason: 'must have a user, a password, a host and a database' };
  if (url.hash !== '') return { reason: 'must not have a fragment; write # as %23' };
  const parameters = [...url.searchParams];
  const mode = url.searchParams.get('sslmode') ?? 'verify-full';
  if (parameters.some(([name]) => name !== 'sslmode') || parameters.length > 1)
    return { reason: 'must not have parameters other than sslmode' };
  if (mode !== 'verify-full' && mode !== 'disable')
    return { reason: 'must have sslmode=verify-full, which is the default, or sslmode=disable' };
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!/^[\w.:-]+$/.test(host)) return { reason: 'must have the name or address of one host' };
  const tls = mode === 'verify-full';
  const isPublic = isIP(host) === 0 ? networks.allowsName(host) : networks.allows(host);
  if (!isPublic) return { reason: `is in a private network. ${allowed}` };
  if (!tls && isIP(host) !== 0 && !networks.isTrusted(host))
    return { reason: `must use TLS, except for addresses of allowed networks. ${allowed}` };
  const port = url.port === '' ? defaultPort : Number(url.port);
  const server = { host, port, user, password, database, tls };
  return { url: text.trim(), server, shown: `${url.hostname}:${port}/${database}` };
}

const allowed = 'An operator can allow networks in the setting OUTBOX_NETWORKS';

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** A table, or a schema and a table, as PostgreSQL's catalog spells them. Names with dots or quotes aren't supported. */
export const tableNamePattern = '^[^\\u0000-\\u001f."]{1,63}(?:\\.[^\\u0000-\\u001f."]{1,63})?$';

/** What a source sends unless its account chooses another rate, and the most that it can choose. */
export const defaultRowsPerSecond = 500;
export const maxRowsPerSecond = 5_000;
