import type { Dns } from '../../../base/dns/dns-client.ts';
import type { PublicNetworks } from '../../../base/network/public-networks.ts';
import { findHostAddresses, type HostAddress } from './host-addresses.ts';

/** A server that accepts mail for a domain. */
interface MailHost {
  readonly name: string;
  readonly preference: number;
}

/** Result of looking up a domain's mail servers. */
type MailHosts =
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

export interface Hop extends HostAddress {
  readonly host: string;
}

/** How to reach a domain's mail servers. */
export type MailRoute =
  | {
      readonly kind: 'hops';
      /** In the order to try them. */
      readonly hops: readonly Hop[];
      /** Every MX host, including those that aren't hops; they identify the destination's operator. */
      readonly hosts: readonly MailHost[];
    }
  /** Permanent: a retry won't help. */
  | { readonly kind: 'refused'; readonly enhanced: string; readonly text: string }
  | { readonly kind: 'fault'; readonly text: string };

export interface MailRouteOptions {
  /** Names this service uses in EHLO. An MX host with one of them is this service. */
  readonly ownNames: ReadonlySet<string>;
  readonly ownAddresses: ReadonlySet<string>;
  /** Address families this machine can send from, preferred one first. */
  readonly families: readonly (4 | 6)[];
  /** Networks that servers may be in: someone else's MX record must not lead into a private network. */
  readonly networks: PublicNetworks;
  /** For tests on one machine: allows delivery to loopback addresses. */
  readonly allowLoopback?: boolean;
}

/** RFC 5321 section 5.1 requires at least two; trying more would only delay the next attempt. */
const maxHops = 6;

/**
 * Plans the route to a domain: its hosts by preference and their addresses, without this machine.
 * @param domain in A-labels, or an address literal in brackets
 */
export async function planRoute(
  dns: Dns,
  domain: string,
  options: MailRouteOptions,
): Promise<MailRoute> {
  if (domain.startsWith('[')) return literalRoute(domain, options);
  const found = await findMailHosts(dns, domain);
  if (found.kind === 'fault') return found;
  if (found.kind === 'null-mx')
    return { kind: 'refused', enhanced: '5.1.10', text: `${domain} accepts no mail (null MX)` };
  if (found.kind === 'no-domain') return { kind: 'refused', enhanced: '5.1.2', text: found.text };
  return await routeBy(dns, domain, found.hosts, options);
}

async function routeBy(
  dns: Dns,
  domain: string,
  hosts: readonly MailHost[],
  options: MailRouteOptions,
): Promise<MailRoute> {
  const hops: Hop[] = [];
  const texts: string[] = [];
  for (const host of hosts) {
    if (hops.length >= maxHops) break;
    // RFC 5321 section 5.1: a server that finds itself among the MX hosts ignores those of equal or lower preference.
    if (options.ownNames.has(host.name)) return loopRoute(domain, hosts, hops, host);
    const found = await findHostAddresses(dns, host.name, options.families);
    if (found.kind === 'none') {
      texts.push(found.text);
      continue;
    }
    for (const address of found.addresses) {
      if (options.allowLoopback !== true && options.ownAddresses.has(address.address))
        return loopRoute(domain, hosts, hops, host);
      if (options.networks.allows(address.address)) hops.push({ host: host.name, ...address });
      else texts.push(insidePrivateNetwork(host.name));
    }
  }
  if (hops.length > 0) return { kind: 'hops', hops: hops.slice(0, maxHops), hosts };
  return { kind: 'fault', text: [...new Set(texts)].join('; ') || `${domain} has no mail server` };
}

/** Leaves out the address, so that a private resolver's answers don't leak. */
function insidePrivateNetwork(host: string): string {
  return `${host} is inside a private network. To send mail there, add the network to DELIVERY_NETWORKS`;
}

function loopRoute(
  domain: string,
  hosts: readonly MailHost[],
  before: readonly Hop[],
  own: MailHost,
): MailRoute {
  const better = new Set(
    hosts.filter((host) => host.preference < own.preference).map((host) => host.name),
  );
  const hops = before.filter((hop) => better.has(hop.host));
  if (hops.length > 0) return { kind: 'hops', hops, hosts };
  return {
    kind: 'fault',
    text: `mail for ${domain} would loop: its MX host ${own.name} is this machine`,
  };
}

/** RFC 5321 section 4.1.3: `[192.0.2.1]`, `[IPv6:2001:db8::1]`. */
function literalRoute(domain: string, options: MailRouteOptions): MailRoute {
  const text = domain.slice(1, -1);
  const six = /^IPv6:/i.test(text);
  const address = six ? text.slice(5) : text;
  const hop: Hop = { host: domain, address, family: six ? 6 : 4 };
  if (options.allowLoopback !== true && options.ownAddresses.has(address))
    return { kind: 'fault', text: `${domain} is this machine` };
  if (!options.networks.allows(address))
    return { kind: 'fault', text: insidePrivateNetwork(domain) };
  return { kind: 'hops', hops: [hop], hosts: [{ name: domain, preference: 0 }] };
}
