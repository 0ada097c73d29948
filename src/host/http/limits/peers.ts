import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP, type Socket } from 'node:net';
import {
  isListed,
  namedNetworks,
  networksOf,
  toBlockList,
  unmapIpv4,
} from '../../../base/network/ip-address.ts';

/** Identifies callers by their networks. */
export class Peers {
  readonly #proxies: BlockList | undefined;
  #unread = 0;
  /** Cached, because the networks of a connection can't change. */
  readonly #networks = new WeakMap<Socket, readonly string[]>();

  readonly #onUnread: (address: string) => void;

  /**
   * @param trustProxy addresses, networks or names of proxies whose X-Forwarded-For is trusted
   * @param onUnread called once, with the address of one that isn't
   */
  constructor(
    trustProxy: readonly string[],
    onUnread: (address: string) => void = () => undefined,
  ) {
    this.#onUnread = onUnread;
    if (trustProxy.length > 0)
      this.#proxies = toBlockList(trustProxy.flatMap((name) => namedNetworks[name] ?? [name]));
  }

  /**
   * Replaces X-Forwarded-For by the client's address, so that everything that reads it afterwards agrees. What isn't an address is
   * removed: then the proxy's own counts. Ports and brackets, which some proxies add, would make every connection another client.
   */
  readForwarded({ socket, headers }: IncomingMessage): void {
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return;
    if (!this.isProxy(socket.remoteAddress ?? '')) {
      this.#unread += 1;
      if (this.#unread === 1) this.#onUnread(socket.remoteAddress ?? '');
      return;
    }
    const addresses = String(forwarded).split(',').map(readForwardedAddress);
    const client = addresses.findLastIndex(
      (address) => address === undefined || !this.isProxy(address),
    );
    const address = addresses[Math.max(0, client)];
    if (address === undefined) delete headers['x-forwarded-for'];
    else headers['x-forwarded-for'] = address;
  }

  /** Requests with X-Forwarded-For from proxies that aren't trusted. */
  get unread(): number {
    return this.#unread;
  }

  /** The networks of the client, taking trusted proxies into account. */
  networksOf(request: IncomingMessage): readonly string[] {
    const forwarded = this.#forwardedAddress(request);
    return forwarded === undefined ? this.ofSocket(request.socket) : networksOf(forwarded);
  }

  /** The address of the client, taking trusted proxies into account. */
  addressOf(request: IncomingMessage): string {
    return this.#forwardedAddress(request) ?? request.socket.remoteAddress ?? '';
  }

  #forwardedAddress({ socket, headers }: IncomingMessage): string | undefined {
    const forwarded = this.#proxies && headers['x-forwarded-for'];
    if (forwarded === undefined || !this.isProxy(socket.remoteAddress ?? '')) return undefined;
    return String(forwarded);
  }

  ofSocket(socket: Socket): readonly string[] {
    const known = this.#networks.get(socket);
    if (known !== undefined) return known;
    const networks = networksOf(socket.remoteAddress ?? '');
    this.#networks.set(socket, networks);
    return networks;
  }

  /** True for a trusted proxy, which forwards requests of many peers. */
  isProxy(address: string): boolean {
    return this.#proxies !== undefined && isListed(this.#proxies, address);
  }
}

/** An address without what proxies add: a port, and the brackets of IPv6 (RFC 7239 section 6). Undefined if it is none. */
function readForwardedAddress(text: string): string | undefined {
  const given = text.trim();
  const [, inBrackets, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(given) ?? [];
  const address = unmapIpv4(inBrackets ?? plain ?? given);
  return isIP(address) === 0 ? undefined : address;
}
