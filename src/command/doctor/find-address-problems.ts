import { isIPv6 } from 'node:net';
import type { Config } from '../../config/config.ts';
import type { Dns } from '../../foundation/dns/dns-answer.ts';
import { expandIpv6 } from '../../foundation/network/ip-address.ts';

/**
 * Large mailbox providers reject mail from addresses without matching forward and reverse DNS: each source's PTR record must
 * name its EHLO name, and that name must resolve to the address (RFC 1912 section 2.1).
 * @returns a sentence for each address that doesn't match
 */
export async function findAddressProblems(dns: Dns, config: Config): Promise<string[]> {
  const host = config.hostname ?? '';
  const named = config.direct.sources.flatMap(({ address, name }) =>
    address === undefined ? [] : [{ address, name }],
  );
  const sources =
    named.length > 0
      ? named
      : (await addressesOf(dns, host)).map((address) => ({ address, name: host }));
  const problems = await Promise.all(sources.map((source) => findProblem(dns, source)));
  return problems.filter((problem) => problem !== undefined);
}

async function findProblem(
  dns: Dns,
  { address, name }: { readonly address: string; readonly name: string },
): Promise<string | undefined> {
  const forward = await dns.lookUp(name, isIPv6(address) ? 'AAAA' : 'A');
  if (forward.kind === 'fault') return `${name} can’t be resolved: ${forward.text}`;
  const same = canonical(address);
  if (forward.kind === 'absent' || !forward.records.some((record) => canonical(record) === same))
    return `${name} doesn’t resolve to ${address}`;
  const reverse = await dns.lookUp(reverseName(address), 'PTR');
  if (reverse.kind === 'fault')
    return `the PTR record of ${address} can’t be resolved: ${reverse.text}`;
  const names =
    reverse.kind === 'absent' ? [] : reverse.records.map((record) => record.replace(/\.$/, ''));
  if (names.includes(name)) return undefined;
  return `the PTR record of ${address} is ${names.join(', ') || 'missing'}, not ${name}`;
}

async function addressesOf(dns: Dns, host: string): Promise<string[]> {
  const answers = [await dns.lookUp(host, 'A'), await dns.lookUp(host, 'AAAA')];
  return answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : []));
}

/** RFC 1035 section 3.5, and RFC 3596 section 2.5 for IPv6. */
function reverseName(address: string): string {
  if (!isIPv6(address)) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const digits = expandIpv6(address).map((part) => part.padStart(4, '0'));
  return `${[...digits.join('')].reverse().join('.')}.ip6.arpa`;
}

/** Normalizes an address for comparison. */
function canonical(address: string): string {
  return isIPv6(address) ? expandIpv6(address).join(':') : address;
}
