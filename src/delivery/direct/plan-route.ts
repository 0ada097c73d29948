import type { Dns } from '../../foundation/dns/dns-client.ts';
import type { PublicNetworks } from '../../foundation/network/public-networks.ts';
import { findHostAddresses, type HostAddress } from './host-addresses.ts';
import { findMailHosts, type MailHost } from './mail-hosts.ts';

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
