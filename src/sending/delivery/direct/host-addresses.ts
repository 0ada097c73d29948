import { isIP } from 'node:net';
import type { Dns } from '../../../base/dns/dns-client.ts';

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type HostAddresses =
  | { readonly kind: 'addresses'; readonly addresses: readonly HostAddress[] }
  | { readonly kind: 'none'; readonly text: string };

/**
 * Addresses of a mail host, in the order of the address families this machine can send from. An MX record must name a
 * host, not an address (RFC 5321 section 5.1), so a host that is an address has none.
 */
export async function findHostAddresses(
  dns: Dns,
  host: string,
  families: readonly (4 | 6)[],
): Promise<HostAddresses> {
  if (isIP(host) !== 0) return { kind: 'none', text: `${host} is an address, not a host name` };
  const answers = await Promise.all(
    families.map(async (family) => ({
      family,
      answer: await dns.lookUp(host, family === 4 ? 'A' : 'AAAA'),
    })),
  );
  const addresses = answers.flatMap(({ family, answer }) =>
    answer.kind === 'found' ? answer.records.map((address) => ({ address, family })) : [],
  );
  if (addresses.length > 0) return { kind: 'addresses', addresses };
  const fault = answers.find(({ answer }) => answer.kind === 'fault')?.answer;
  const text =
    fault?.kind === 'fault'
      ? `could not get the addresses of ${host} from resolver ${fault.server}: ${fault.text}`
      : `${host} has no address that this machine can reach`;
  return { kind: 'none', text };
}
