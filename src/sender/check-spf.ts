import type { Dns } from '../foundation/dns/dns-answer.ts';
import { toNodeResolver } from '../foundation/dns/to-node-resolver.ts';
import type { ServiceNames } from './sending-domain.ts';

/**
 * Whether the SPF record of `domain` (RFC 7208) allows the hosts that mail leaves from: it must include the SPF domain of a
 * known relay, and pass for every address.
 */
export async function checkSpf(
  dns: Dns,
  domain: string,
  record: string,
  { spfMechanisms, host }: ServiceNames,
): Promise<{ readonly passes: boolean; readonly text: string }> {
  const terms = new Set(record.toLowerCase().split(/\s+/));
  const missing = spfMechanisms.find((one) => one.startsWith('include:') && !terms.has(one));
  if (missing !== undefined)
    return { passes: false, text: `The SPF record doesn’t contain ${missing}.` };
  // Imported on first use, so that startup is faster.
  const { spf } = await import('mailauth/lib/spf/index.js');
  for (const mechanism of spfMechanisms) {
    const [kind, ...rest] = mechanism.split(':');
    const name = rest.join(':');
    if (kind === 'include') continue;
    const addresses = kind === 'a' ? await resolveAddresses(dns, name) : [name];
    if (addresses.length === 0)
      return { passes: false, text: `The mail server ${name} has no address record.` };
    for (const ip of addresses) {
      const { status } = await spf({
        sender: `bounce@${domain}`,
        ip,
        helo: host ?? name,
        resolver: toNodeResolver(dns),
        mta: host ?? name,
      });
      if (status.result !== 'pass')
        return { passes: false, text: `SPF for mail from ${ip} evaluates to ${status.result}.` };
    }
  }
  return { passes: true, text: '' };
}

async function resolveAddresses(dns: Dns, host: string): Promise<string[]> {
  const answers = [await dns.lookUp(host, 'A'), await dns.lookUp(host, 'AAAA')];
  return answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : []));
}
