import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { unmapIpv4 } from './ip-address.ts';

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
