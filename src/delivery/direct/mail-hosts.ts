import type { Dns } from '../../foundation/dns/dns-answer.ts';

/** A server that takes mail for a domain. */
export interface MailHost {
  readonly name: string;
  readonly preference: number;
}

/** Who takes mail for a domain. */
export type MailHosts =
  | {
      readonly kind: 'hosts';
      /** The most wanted first; those wanted equally in random order. */
      readonly hosts: readonly MailHost[];
      /** True where the domain's own address stands in for a missing MX record (RFC 5321 section 5.1). */
      readonly implicit: boolean;
    }
  /** RFC 7505: the domain takes no mail. */
  | { readonly kind: 'null-mx' }
  /** The domain does not exist, says the resolver. */
  | { readonly kind: 'no-domain'; readonly text: string }
  /** Nothing that counts was learnt: again later. */
  | { readonly kind: 'fault'; readonly text: string };

/** A domain that names more servers than this is read up to here. */
const maxHosts = 20;

/**
 * Finds the servers of a domain (RFC 5321 section 5.1). DNS faults are temporary, whatever they are; so is a domain that
 * exists without any server, since somebody is likely to be editing it.
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
  // RFC 7505 section 3: a null MX beside others is a mistake of the domain; the others count.
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
  if (what === 'name') return { kind: 'no-domain', text: `the domain ${domain} does not exist` };
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
  return `the ${type} records of ${domain} could not be had from resolver ${server}: ${text}`;
}

/** RFC 5321 section 5.1: by preference, and at random among equals to spread the load. */
function order(hosts: readonly MailHost[], random: () => number): MailHost[] {
  return hosts
    .map((host) => ({ host, place: random() }))
    .sort((one, other) => one.host.preference - other.host.preference || one.place - other.place)
    .map(({ host }) => host);
}
