import type { Config } from '../../config/config.ts';
import { DnsClient } from '../../foundation/dns/dns-client.ts';
import { chooseDnsServers } from '../../foundation/dns/dns-server.ts';
import type { Diagnosis } from './doctor-context.ts';
import { findAddressProblems } from './find-address-problems.ts';

/**
 * With direct delivery: checks that the resolvers answer and resolve each EHLO name of this server (required by RFC
 * 5321 section 4.1.1.1), and that each address has a matching PTR record. Contacts no receiving server.
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
        finding: `the resolvers don’t answer for ${name}: ${fault.text}`,
        advice: 'Make the resolvers reachable from this machine, or set others in DNS_SERVERS.',
      };
    if (answers.every((answer) => answer.kind === 'absent'))
      return {
        ok: false,
        finding: `DNS has no address for ${name}, the name of this mail server`,
        advice: `Publish an address record for ${name}, and a PTR record that points back to it. Many receiving servers reject mail otherwise.`,
      };
  }
  const problems = await findAddressProblems(dns, config);
  if (problems.length > 0)
    return {
      ok: false,
      finding: problems.join('; '),
      advice:
        'Publish the address record, and ask the owner of the IP address (usually your provider) to set its PTR record. Many receiving servers reject mail otherwise.',
    };
  const finding = `delivers directly to the recipients’ servers, as ${[...names].join(' and ')}`;
  return { ok: true, finding };
}
