import type { Config } from '../../config/config.ts';
import { DnsClient } from '../../foundation/dns/dns-client.ts';
import { chooseDnsServers } from '../../foundation/dns/dns-server.ts';
import type { Diagnosis } from './doctor-context.ts';
import { findAddressProblems } from './find-address-problems.ts';

/**
 * With direct delivery: the resolvers answer, and know each name that this server gives in EHLO (RFC 5321 section
 * 4.1.1.1 wants a name that resolves), whose addresses lead back to it. No receiver is asked.
 */
export async function checkDirect(config: Config): Promise<Diagnosis> {
  const dns = new DnsClient(chooseDnsServers(config.dnsServers));
  const names = new Set([config.hostname ?? '', ...config.direct.sources.map(({ name }) => name)]);
  for (const name of names) {
    const answers = [await dns.lookUp(name, 'A'), await dns.lookUp(name, 'AAAA')];
    const fault = answers.find((answer) => answer.kind === 'fault');
    if (fault !== undefined)
      return {
        ok: false,
        finding: `the resolvers give no answer about ${name}: ${fault.text}`,
        advice: 'Let this machine reach its resolvers, or name others in DNS_SERVERS.',
      };
    if (answers.every((answer) => answer.kind === 'absent'))
      return {
        ok: false,
        finding: `DNS has no address for ${name}, the name of this mail server`,
        advice: `Publish an address record for ${name}, and a PTR record that leads back to it; many receivers refuse mail otherwise.`,
      };
  }
  const problems = await findAddressProblems(dns, config);
  if (problems.length > 0)
    return {
      ok: false,
      finding: problems.join('; '),
      advice:
        'Publish the address record, and ask whoever owns the address for its PTR record; many receivers refuse mail otherwise.',
    };
  const finding = `goes straight to the recipients’ servers, as ${[...names].join(' and ')}`;
  return { ok: true, finding };
}
