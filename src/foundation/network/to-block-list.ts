import { BlockList, isIPv4 } from 'node:net';

/** @param networks valid networks such as `192.0.2.0/24` and `2001:db8::/48`, or single addresses */
export function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const type = isIPv4(base) ? 'ipv4' : 'ipv6';
    list.addSubnet(base, Number(bits ?? (type === 'ipv4' ? 32 : 128)), type);
  }
  return list;
}
