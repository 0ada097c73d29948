import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';

/** Tells the address that a request comes from. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The address of the peer, or the one that a trusted proxy names in `X-Forwarded-For`, as the framework tells it for its
 * own routes.
 * @param trustProxy addresses or networks of trusted proxies
 */
export function clientAddressBehind(trustProxy: readonly string[]): ClientAddress {
  if (trustProxy.length === 0) return (request) => request.socket.remoteAddress ?? '';
  const trusts = proxyAddress.compile([...trustProxy]);
  return (request) => proxyAddress(request, trusts);
}
