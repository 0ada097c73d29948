import { type BlockList, isIP } from 'node:net';
import { expandIpv6, isListed, toBlockList } from './ip-address.ts';

/** Non-public networks (IANA special-purpose address registries, RFC 6890). */
const specialNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const;

/** Decides which addresses outbound requests may connect to. */
export class PublicNetworks {
  readonly #special = toBlockList(specialNetworks);
  readonly #allowed: BlockList;

  /** @param allowed non-public networks that are allowed anyway */
  constructor(allowed: readonly string[]) {
    this.#allowed = toBlockList(allowed);
  }

  /** True for a public address, or one in a network the operator allows. */
  allows(address: string): boolean {
    const plain = unwrapIpv4(address);
    if (isIP(plain) === 0) return false;
    return isListed(this.#allowed, plain) || !isListed(this.#special, plain);
  }

  /** False for names that always resolve to loopback (RFC 6761 section 6.3), unless the operator allows loopback. */
  allowsName(name: string): boolean {
    if (!/(?:^|\.)localhost\.?$/i.test(name)) return true;
    return this.isTrusted('127.0.0.1') || this.isTrusted('::1');
  }

  /** True for an address the operator explicitly allows, which may use plain http. */
  isTrusted(address: string): boolean {
    return isListed(this.#allowed, unwrapIpv4(address));
  }
}

/**
 * Converts IPv6 addresses that embed an IPv4 address to that address: IPv4-mapped (RFC 4291 section 2.5.5.2) and the NAT64
 * well-known prefix (RFC 6052 section 2.1).
 */
function unwrapIpv4(address: string): string {
  const plain = address.split('%')[0] ?? '';
  if (isIP(plain) !== 6) return plain;
  const groups = expandIpv6(plain);
  const prefix = groups.slice(0, 6).join(':');
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return plain;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}
