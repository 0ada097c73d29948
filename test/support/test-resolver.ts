import type { DNSResolver } from 'mailauth';
import type { TestDns } from './test-dns.ts';

/** The zones of a test in the shape of Node's own resolver, for verifiers. */
export function readTestResolver(dns: TestDns): DNSResolver {
  const resolve = async (name: string, type: string): Promise<unknown[]> => {
    const zone = dns.zones.get(name.toLowerCase());
    if (zone === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
    const found: unknown[] =
      type === 'TXT'
        ? (zone.TXT ?? []).map((text) => [text])
        : type === 'MX'
          ? (zone.MX ?? []).map(([priority, exchange]) => ({ priority, exchange }))
          : [...((type === 'AAAA' ? zone.AAAA : zone.A) ?? [])];
    if (found.length === 0) throw Object.assign(new Error(name), { code: 'ENODATA' });
    return found;
  };
  return resolve as DNSResolver;
}
