import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP, type Socket } from 'node:net';
import { networkOf } from '../../foundation/network/network-of.ts';
import { toBlockList } from '../../foundation/network/to-block-list.ts';

/** Networks behind the names that TRUST_PROXY accepts. */
const namedNetworks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Identifies callers by network: an IPv4 address, or the /64 of an IPv6 address. */
export class Peers {
  readonly #proxies: BlockList | undefined;
  /** Cached, because the network of a connection can't change. */
  readonly #networks = new WeakMap<Socket, string>();

  /** @param trustProxy addresses, networks or names of proxies whose X-Forwarded-For is trusted */
  constructor(trustProxy: readonly string[]) {
    if (trustProxy.length > 0)
      this.#proxies = toBlockList(trustProxy.flatMap((name) => namedNetworks[name] ?? [name]));
  }

  /** The network of the client, taking trusted proxies into account. */
  ofRequest(request: IncomingMessage): string {
    const forwarded = this.#forwardedAddress(request);
    return forwarded === undefined ? this.ofSocket(request.socket) : networkOf(forwarded);
  }

  /** The address of the client, taking trusted proxies into account. */
  addressOf(request: IncomingMessage): string {
    return this.#forwardedAddress(request) ?? request.socket.remoteAddress ?? '';
  }

  #forwardedAddress({ socket, headers }: IncomingMessage): string | undefined {
    const forwarded = this.#proxies && headers['x-forwarded-for'];
    if (forwarded === undefined || !this.isProxy(socket.remoteAddress ?? '')) return undefined;
    const addresses = String(forwarded)
      .split(',')
      .map((address) => address.trim());
    return addresses.findLast((address) => !this.isProxy(address)) ?? addresses[0];
  }

  ofSocket(socket: Socket): string {
    const known = this.#networks.get(socket);
    if (known !== undefined) return known;
    const network = networkOf(socket.remoteAddress ?? '');
    this.#networks.set(socket, network);
    return network;
  }

  /** True for a trusted proxy, which forwards requests of many peers. */
  isProxy(address: string): boolean {
    if (this.#proxies === undefined) return false;
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    const family = isIP(plain);
    return family !== 0 && this.#proxies.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  }
}
