import { isIP } from 'node:net';
import type { StrangersServer } from '../../base/network/guarded-database.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';
import { maxSourceUrlLength } from './source-schemas.ts';

const maxHosts = 8;

const defaultPorts = { postgres: 5432, mysql: 3306 };
type Dialect = keyof typeof defaultPorts;
const parameters = ['sslmode=verify-full', 'sslmode=disable', 'target_session_attrs=read-write'];

/**
 * Parses the URL of a source: `postgres://user:password@host:5432/database`, or `mysql://`, with commas between several hosts, and
 * with `?sslmode=disable` for servers without TLS in a network that the operator allows. Parameters that aren't known are refused,
 * because those of libpq can name files and sockets of this machine. Names are resolved and checked on each connection; addresses and
 * local names can be refused now.
 * @returns where it leads: `servers`, one of which is the primary, and `server`, the part of the URL that is shown; or why it can't
 * be used: a reason that follows the name of its field
 */
export function parseSourceUrl(text: string, networks: PublicNetworks) {
  const url = text.trim();
  const [, scheme = '', login = '', hosts = '', rest = ''] =
    (url.length <= maxSourceUrlLength && /^(\w+):\/\/([^/?#]*@|)([^/?#@]*)(.*)$/s.exec(url)) || [];
  if (!/^(?:postgres|postgresql|mysql|mariadb)$/.test(scheme))
    return { reason: 'must look like postgres://user:password@host:5432/database, or mysql://…' };
  const dialect: Dialect = scheme.startsWith('postgres') ? 'postgres' : 'mysql';
  const servers: StrangersServer[] = [];
  for (const host of hosts.split(',')) {
    const parsed = URL.parse(`${scheme}://${login}${host}${rest}`);
    const server = parsed && parseServer(parsed, dialect, networks);
    if (server === null) return { reason: 'must have names or addresses of hosts, and ports' };
    if ('reason' in server) return server;
    servers.push(server);
  }
  if (servers.length > maxHosts) return { reason: `must have at most ${maxHosts} hosts` };
  const places = servers.map(({ host, port }) =>
    isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`,
  );
  return { dialect, url, servers, server: `${places}/${servers[0]?.database}` };
}

function parseServer(
  url: URL,
  dialect: Dialect,
  networks: PublicNetworks,
): StrangersServer | { readonly reason: string } {
  const parts = [url.username, url.password, url.hostname, url.pathname.slice(1)].map(decode);
  const [user = '', password = '', hostname = '', database = ''] = parts;
  if (parts.some((part) => part === undefined || part === '' || part.includes('\0')))
    return { reason: 'must have a user, a password, a host and a database' };
  if (url.hash !== '') return { reason: 'must not have a fragment; write # as %23' };
  const given = [...url.searchParams].map(([name, value]) => `${name}=${value}`);
  if (
    given.some((one) => !parameters.includes(one)) ||
    new Set(url.searchParams.keys()).size < given.length
  )
    return { reason: `must not have parameters other than ${parameters.join(', ')}` };
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!/^[\w.:-]+$/.test(host)) return { reason: 'must have names or addresses of hosts' };
  const tls = !given.includes('sslmode=disable');
  const isPublic = isIP(host) === 0 ? networks.allowsName(host) : networks.allows(host);
  if (!isPublic) return { reason: `is in a private network. ${allowed}` };
  if (!tls && isIP(host) !== 0 && !networks.isTrusted(host))
    return { reason: `must use TLS, except for addresses of allowed networks. ${allowed}` };
  // Its driver checks certificates for names only.
  if (tls && dialect === 'mysql' && isIP(host) !== 0)
    return { reason: 'must have the name of the host, for which its certificate is verified' };
  const port = url.port === '' ? defaultPorts[dialect] : Number(url.port);
  return { host, port, user, password, database, tls };
}

const allowed = 'An operator can allow networks in the setting OUTBOX_NETWORKS';

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
