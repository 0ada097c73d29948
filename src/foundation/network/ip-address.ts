import { isIPv6 } from 'node:net';

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

/** The IPv4 address, or the /64 network of an IPv6 address, because a single customer gets a whole /64. */
export function networkOf(remoteAddress: string): string {
  const address = unmapIpv4(remoteAddress);
  return isIPv6(address) ? expandIpv6(address).slice(0, 4).join(':') : address;
}
