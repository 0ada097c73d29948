import type { FastifyRequest } from 'fastify';

/** Header fields that a proxy adds: whoever sends one speaks for somebody else. */
const proxyHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip',
  'x-client-ip',
  'x-original-host',
  'true-client-ip',
  'cf-connecting-ip',
];

const loopbackAddress = /^(?:::1|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i;

const localHost = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * True where the connection itself comes from this machine and no proxy stands between. What a header says of the
 * peer counts for nothing here, also behind a proxy that is trusted otherwise.
 */
export function isLoopbackPeer(request: FastifyRequest): boolean {
  if (proxyHeaders.some((name) => request.headers[name] !== undefined)) return false;
  return loopbackAddress.test(request.socket.remoteAddress ?? '');
}

/**
 * True where the Host header names this machine itself, so that a foreign name that resolves to the loopback
 * (DNS rebinding) is told apart. Only `localhost` and loopback addresses do; names below `localhost`, and names with
 * a dot at the end, are left to resolvers that may ask the network.
 */
export function hasLocalHost(request: FastifyRequest): boolean {
  return localHost.test(request.headers.host ?? '');
}
