import { getServers } from 'node:dns';
import { isIP } from 'node:net';
import { OperatorError } from '../values/errors.ts';

/** A resolver: an IP address and a port. */
export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

/** Formats a resolver address as in settings and findings. */
export function formatDnsServer({ address, port }: DnsServer): string {
  if (port === 53) return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * Parses `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`.
 * @throws OperatorError for anything else, because resolving a host name would itself need a resolver
 */
export function parseDnsServer(text: string): DnsServer {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const match = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text);
  const address = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3] ?? 53);
  if (isIP(address) === 0 || port < 1 || port > 65_535) {
    throw new OperatorError(
      `DNS_SERVERS must contain IP addresses such as 192.0.2.1 or [2001:db8::1]:53, not "${text}".`,
    );
  }
  return { address, port };
}

/** The configured resolvers, or the machine's own. */
export function chooseDnsServers(configured: readonly DnsServer[]): readonly DnsServer[] {
  return configured.length > 0 ? configured : getServers().map(parseDnsServer);
}
