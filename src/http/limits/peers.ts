import type { IncomingMessage } from 'node:http';
import type { BlockList, Socket } from 'node:net';
import { isListed, namedNetworks, toBlockList } from '../../foundation/network/block-list.ts';
import { networkOf } from '../../foundation/network/ip-address.ts';

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
    return this.#proxies !== undefined && isListed(this.#proxies, address);
  }
}
