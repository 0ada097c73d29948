import type { Dns } from '../../foundation/dns/dns-client.ts';

/** A server that accepts mail for a domain. */
export interface MailHost {
  readonly name: string;
  readonly preference: number;
}

/** Result of looking up a domain's mail servers. */
export type MailHosts =
  | {
      readonly kind: 'hosts';
      /** Sorted by preference; hosts with equal preference are in random order. */
      readonly hosts: readonly MailHost[];
      /** True if the domain has no MX record and its own address is used instead (RFC 5321 section 5.1). */
      readonly implicit: boolean;
    }
  /** RFC 7505: the domain accepts no mail. */
  | { readonly kind: 'null-mx' }
  /** The resolver says that the domain doesn't exist. */
  | { readonly kind: 'no-domain'; readonly text: string }
  /** The lookup was inconclusive; retry later. */
  | { readonly kind: 'fault'; readonly text: string };

/** Max MX hosts per domain; the rest are ignored. */
const maxHosts = 20;

/**
 * Finds a domain's mail servers (RFC 5321 section 5.1). DNS faults are always temporary, and so is a domain without any
 * server, because someone is probably editing its records.
 * @param domain in A-labels
 * @param random 0 to 1
 */
export async function findMailHosts(
  dns: Dns,
  domain: string,
  random: () => number = Math.random,
): Promise<MailHosts> {
  const answer = await dns.lookUp(domain, 'MX');
  if (answer.kind === 'fault') return { kind: 'fault', text: faultText(domain, 'MX', answer) };
  if (answer.kind === 'absent') return await findImplicit(dns, domain, answer.what);
  const [first] = answer.records;
  if (answer.records.length === 1 && isRoot(first?.exchange)) return { kind: 'null-mx' };
  // RFC 7505 section 3: a null MX next to other records is a misconfiguration; use the others.
  const hosts = answer.records
    .filter(({ exchange }) => !isRoot(exchange))
    .map(({ exchange, preference }) => ({ name: exchange, preference }));
  return { kind: 'hosts', hosts: order(hosts, random).slice(0, maxHosts), implicit: false };
}

function isRoot(exchange: string | undefined): boolean {
  return exchange === '' || exchange === '.';
}

async function findImplicit(
  dns: Dns,
  domain: string,
  what: 'name' | 'records',
): Promise<MailHosts> {
  if (what === 'name') return { kind: 'no-domain', text: `the domain ${domain} doesn’t exist` };
  for (const type of ['A', 'AAAA'] as const) {
    const answer = await dns.lookUp(domain, type);
    if (answer.kind === 'fault') return { kind: 'fault', text: faultText(domain, type, answer) };
    if (answer.kind === 'found')
      return { kind: 'hosts', hosts: [{ name: domain, preference: 0 }], implicit: true };
  }
  return { kind: 'fault', text: `the domain ${domain} has neither MX nor address records` };
}

function faultText(
  domain: string,
  type: string,
  { text, server }: { readonly text: string; readonly server: string },
): string {
  return `could not get the ${type} records of ${domain} from resolver ${server}: ${text}`;
}

/** RFC 5321 section 5.1: by preference, random among equals to spread the load. */
function order(hosts: readonly MailHost[], random: () => number): MailHost[] {
  return hosts
    .map((host) => ({ host, rank: random() }))
    .sort((one, other) => one.host.preference - other.host.preference || one.rank - other.rank)
    .map(({ host }) => host);
}
