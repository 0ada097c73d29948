import { type BlockList, isIP } from 'node:net';
import { isListed, toBlockList } from './block-list.ts';
import { expandIpv6 } from './ip-address.ts';

/** Networks that are not the public internet (IANA special-purpose address registries, RFC 6890). */
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

/** Tells addresses that may be asked from those inside somebody's network. */
export class PublicNetworks {
  readonly #special = toBlockList(specialNetworks);
  readonly #allowed: BlockList;

  /** @param allowed networks that may be asked although they are not public */
  constructor(allowed: readonly string[]) {
    this.#allowed = toBlockList(allowed);
  }

  /** True for an address of the public internet, or of a network that the operator allows. */
  allows(address: string): boolean {
    const plain = unwrapIpv4(address);
    if (isIP(plain) === 0) return false;
    return isListed(this.#allowed, plain) || !isListed(this.#special, plain);
  }

  /** False for a name that always leads to the machine itself (RFC 6761 section 6.3), unless the operator allows that. */
  allowsName(name: string): boolean {
    if (!/(?:^|\.)localhost\.?$/i.test(name)) return true;
    return this.isTrusted('127.0.0.1') || this.isTrusted('::1');
  }

  /** True for an address that the operator allows by name; there plain http will do. */
  isTrusted(address: string): boolean {
    return isListed(this.#allowed, unwrapIpv4(address));
  }
}

/**
 * IPv6 addresses that lead to an IPv4 address are judged as that one: mapped (RFC 4291 section 2.5.5.2), and by the well-known
 * prefix of NAT64 (RFC 6052 section 2.1), which networks without IPv4 reach the whole internet by.
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
