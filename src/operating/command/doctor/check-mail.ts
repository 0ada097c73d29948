import { isIPv6 } from 'node:net';
import { type Dns, DnsClient } from '../../../base/dns/dns-client.ts';
import { chooseDnsServers } from '../../../base/dns/dns-server.ts';
import { expandIpv6 } from '../../../base/network/ip-address.ts';
import { type Diagnosis, fine, problem } from '../../../base/values/diagnosis.ts';
import { formatReply } from '../../../sending/delivery/reply.ts';
import {
  readSmtpServers,
  type SmtpServerSettings,
} from '../../../sending/delivery/smtp-server-settings.ts';
import { SmtpSession, SmtpSessionError } from '../../../sending/delivery/smtp-session.ts';
import type { Config } from '../../config/config.ts';
import type { DoctorContext } from './doctor-context.ts';

const timeoutMs = 10_000;
const timeouts = {
  connect: timeoutMs,
  greeting: timeoutMs,
  command: timeoutMs,
  data: timeoutMs,
  final: timeoutMs,
};

/**
 * Checks that each relay in SMTP_URL accepts a connection, TLS and the credentials. Sends nothing; direct delivery has
 * its own check.
 */
export async function checkMail({ config }: DoctorContext): Promise<Diagnosis> {
  if (config.delivery === 'direct') return checkDirect(config);
  if (config.smtpUrl === undefined) return fine('stays in the local inbox');
  const servers = readSmtpServers(config.smtpUrl);
  const problems = await Promise.all(servers.map((server) => tryRelay(server, config.hostname)));
  const found = problems.filter((one) => one !== undefined);
  if (found.length === 0) {
    const names = servers.map((server) => `${server.host}:${server.port}`);
    return fine(`the relay ${names.join(' and ')} accepts connections`);
  }
  return problem(
    found.join('; '),
    'Check host, port, user and password in SMTP_URL, and that a firewall allows outgoing connections.',
  );
}

async function tryRelay(
  server: SmtpServerSettings,
  name: string | undefined,
): Promise<string | undefined> {
  try {
    const session = await SmtpSession.open(server, name, timeouts);
    session.quit();
    return undefined;
  } catch (error) {
    const why = error instanceof SmtpSessionError ? describeFailure(error) : String(error);
    return `the relay ${server.host}:${server.port} rejected the connection or can’t be reached: ${why}`;
  }
}

function describeFailure({ end }: SmtpSessionError): string {
  if (end.kind === 'reply') return formatReply(end.reply);
  return end.kind === 'fault' ? end.text : 'no session';
}

/**
 * With direct delivery: checks that the resolvers answer and resolve each EHLO name of this server (required by RFC
 * 5321 section 4.1.1.1), and that each address has a matching PTR record. Contacts no receiving server.
 */
async function checkDirect(config: Config): Promise<Diagnosis> {
  const dns = new DnsClient(chooseDnsServers(config.dnsServers));
  const names = new Set([config.hostname ?? '', ...config.direct.sources.map(({ name }) => name)]);
  for (const name of names) {
    const answers = [await dns.lookUp(name, 'A'), await dns.lookUp(name, 'AAAA')];
    const fault = answers.find((answer) => answer.kind === 'fault');
    if (fault !== undefined)
      return problem(
        `the resolvers don’t answer for ${name}: ${fault.text}`,
        'Make the resolvers reachable from this machine, or set others in DNS_SERVERS.',
      );
    if (answers.every((answer) => answer.kind === 'absent'))
      return problem(
        `DNS has no address for ${name}, the name of this mail server`,
        `Publish an address record for ${name}, and a PTR record that points back to it. Many receiving servers reject mail otherwise.`,
      );
  }
  const problems = await findAddressProblems(dns, config);
  if (problems.length > 0)
    return problem(
      problems.join('; '),
      'Publish the address record, and ask the owner of the IP address (usually your provider) to set its PTR record. Many receiving servers reject mail otherwise.',
    );
  return fine(`delivers directly to the recipients’ servers, as ${[...names].join(' and ')}`);
}

/**
 * Large mailbox providers reject mail from addresses without matching forward and reverse DNS: each source's PTR record must
 * name its EHLO name, and that name must resolve to the address (RFC 1912 section 2.1).
 * @returns a sentence for each address that doesn't match
 */
async function findAddressProblems(dns: Dns, config: Config): Promise<string[]> {
  const host = config.hostname ?? '';
  const named = config.direct.sources.flatMap(({ address, name }) =>
    address === undefined ? [] : [{ address, name }],
  );
  const sources =
    named.length > 0
      ? named
      : (await addressesOf(dns, host)).map((address) => ({ address, name: host }));
  const problems = await Promise.all(sources.map((source) => findProblem(dns, source)));
  return problems.filter((one) => one !== undefined);
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
