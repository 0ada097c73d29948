import { isIPv6 } from 'node:net';

/** An IPv4 address that stands inside an IPv6 one (RFC 4291 section 2.5.5.2) as itself, any other address as it is. */
export function unmapIpv4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}

/** The eight groups of an IPv6 address, however it is written: without a zone and leading zeros, in hexadecimal. */
export function expandIpv6(address: string): string[] {
  // URLs have one spelling for each address.
  const { hostname } = new URL(`http://[${address.split('%')[0]}]`);
  const [left = '', right] = hostname.slice(1, -1).split('::');
  const before = left === '' ? [] : left.split(':');
  if (right === undefined) return before;
  const after = right === '' ? [] : right.split(':');
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/** The address, or the /64 network of an IPv6 one, which a single customer holds whole. */
export function networkOf(remoteAddress: string): string {
  const address = unmapIpv4(remoteAddress);
  return isIPv6(address) ? expandIpv6(address).slice(0, 4).join(':') : address;
}
