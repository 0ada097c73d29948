import type { Dns } from '../foundation/dns/dns-answer.ts';
import { toNodeResolver } from '../foundation/dns/to-node-resolver.ts';
import type { ServiceNames } from './sending-domain.ts';

/** Lookups of an evaluation (RFC 7208 section 4.6.4). */
const maxLookups = 10;

/**
 * Whether the SPF record of `domain` (RFC 7208) allows the hosts that mail leaves from: it must include the SPF domain of a
 * known relay, directly or through other records, and pass for every address.
 */
export async function checkSpf(
  dns: Dns,
  domain: string,
  record: string,
  { spfMechanisms, host }: ServiceNames,
): Promise<{ readonly passes: boolean; readonly text: string }> {
  for (const mechanism of spfMechanisms) {
    const [kind, target = ''] = mechanism.split(':');
    if (kind !== 'include' || (await includes(dns, record, target, { lookups: maxLookups })))
      continue;
    return { passes: false, text: `The SPF record doesn’t contain ${mechanism}.` };
  }
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

/** Whether a record passes for all hosts of another domain: by including it, before a mechanism that matches everything. */
async function includes(
  dns: Dns,
  record: string,
  target: string,
  budget: { lookups: number },
): Promise<boolean> {
  const terms = record.toLowerCase().split(/\s+/).slice(1);
  for (const term of terms) {
    const [, qualifier = '', name = ''] = /^([-+~?]?)([a-z]+)/.exec(term) ?? [];
    const passes = qualifier === '' || qualifier === '+';
    if (name === 'all') return passes;
    if (name !== 'include' || !passes) continue;
    const domain = term.slice(term.indexOf(':') + 1);
    if (domain === target || (await includedBy(dns, domain, target, budget))) return true;
  }
  // RFC 7208 section 6.1: it counts if no mechanism matched.
  const redirect = terms.find((term) => term.startsWith('redirect='));
  if (redirect === undefined) return false;
  const domain = redirect.slice('redirect='.length);
  return domain === target || (await includedBy(dns, domain, target, budget));
}

async function includedBy(
  dns: Dns,
  domain: string,
  target: string,
  budget: { lookups: number },
): Promise<boolean> {
  budget.lookups -= 1;
  // A macro depends on the message (RFC 7208 section 7).
  if (budget.lookups < 0 || domain.includes('%')) return false;
  const answer = await dns.lookUp(domain, 'TXT');
  const records = answer.kind === 'found' ? answer.records : [];
  const record = records.find((text) => /^v=spf1( |$)/i.test(text));
  return record !== undefined && (await includes(dns, record, target, budget));
}

async function resolveAddresses(dns: Dns, host: string): Promise<string[]> {
  const answers = [await dns.lookUp(host, 'A'), await dns.lookUp(host, 'AAAA')];
  return answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : []));
}
