import type { DNSResolver } from 'mailauth';
import type { Dns, DnsType } from './dns-client.ts';

const types: readonly DnsType[] = ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'TXT'];

/** Adapts our DNS client to the interface of Node's resolver, which the library for SPF, DKIM and DMARC expects. */
export function toNodeResolver(dns: Dns): DNSResolver {
  const resolve = async (name: string, requestedType: string): Promise<unknown[]> => {
    const type = types.find((one) => one === requestedType);
    if (type === undefined) throw dnsError('ENODATA', name);
    const answer = await dns.lookUp(name, type);
    if (answer.kind === 'fault') throw dnsError('ESERVFAIL', name);
    if (answer.kind === 'absent')
      throw dnsError(answer.what === 'name' ? 'ENOTFOUND' : 'ENODATA', name);
    if (type === 'MX')
      return answer.records.map((record) =>
        typeof record === 'string'
          ? record
          : { exchange: record.exchange, priority: record.preference },
      );
    return type === 'TXT' ? answer.records.map((record) => [record]) : [...answer.records];
  };
  // The library's code supports MX answers, but its types don't.
  return resolve as DNSResolver;
}

function dnsError(code: string, name: string): Error {
  return Object.assign(new Error(`${code} ${name}`), { code });
}
