import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** Converts an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) to IPv4; returns other addresses unchanged. */
export function unmapIpv4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}

/** The eight groups of an IPv6 address, in hexadecimal without leading zeros. Drops the zone. */
export function expandIpv6(address: string): string[] {
  // A parsed URL has the address in its canonical form.
  const { hostname } = new URL(`http://[${address.split('%')[0]}]`);
  const [left = '', right] = hostname.slice(1, -1).split('::');
  const before = left === '' ? [] : left.split(':');
  if (right === undefined) return before;
  const after = right === '' ? [] : right.split(':');
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/**
 * The networks of an address that are counted together, from narrow to wide: an IPv4 address and its /24, or the /64, /56 and
 * /48 of an IPv6 address. A customer gets any of the latter, and must not have a share for each part.
 */
export function networksOf(remoteAddress: string): readonly string[] {
  const address = unmapIpv4(remoteAddress);
  if (!isIPv6(address)) return [address, `${address.split('.').slice(0, 3).join('.')}.0/24`];
  const groups = expandIpv6(address).slice(0, 4);
  const site = groups.slice(0, 3).join(':');
  const subnet = groups[3] ?? '0';
  const block = subnet.length > 2 ? `${subnet.slice(0, -2)}00` : '0';
  return [`${site}:${subnet}::/64`, `${site}:${block}::/56`, `${site}::/48`];
}

/** The narrowest of them. */
export function networkOf(remoteAddress: string): string {
  return networksOf(remoteAddress)[0] ?? '';
}

/** Named networks, as in `proxy-addr`. */
export const namedNetworks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** @param networks valid networks or single addresses, such as `192.0.2.0/24` and `2001:db8::1` */
export function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const type = isIPv4(base) ? 'ipv4' : 'ipv6';
    list.addSubnet(base, Number(bits ?? (type === 'ipv4' ? 32 : 128)), type);
  }
  return list;
}

/** True if the address is in one of the networks; false if it isn't an IP address. */
export function isListed(list: BlockList, address: string): boolean {
  const plain = unmapIpv4(address);
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/** Whether a text is a network, such as `192.0.2.0/24`, or a single address. */
export function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  if (rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return false;
  const bits = isIPv4(address) ? 32 : isIPv6(address) && !address.includes('%') ? 128 : undefined;
  return bits !== undefined && Number(length ?? bits) <= bits;
}

const thisMachine = toBlockList(['127.0.0.0/8', '::1']);
const localNetworks = toBlockList(
  ['linklocal', 'uniquelocal'].flatMap((name) => namedNetworks[name] ?? []),
);

/** Where a request came from, as people know it: a network such as `192.0.2.0/24`, or whether it is close. */
export function describePlace(remoteAddress: string): string {
  const address = unmapIpv4(remoteAddress).replace(/%.*/, '');
  if (isListed(thisMachine, address)) return 'this machine';
  const network = isIPv6(address)
    ? `${expandIpv6(address).slice(0, 4).join(':')}::/64`
    : `${address.split('.').slice(0, 3).join('.')}.0/24`;
  return isListed(localNetworks, address) ? `local network ${network}` : network;
}
