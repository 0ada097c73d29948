import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import { tlsHandshakeOptions } from './handshake-options.ts';
import type { LiveCertificate } from './live-certificate.ts';

/** Creates a server that speaks HTTP/1.1 over TLS 1.2 or later. New connections get the latest certificate. */
export function createTlsServer(
  certificate: LiveCertificate,
  options: ServerOptions,
  handler: RequestListener,
): Server {
  const { cert, key } = certificate.current;
  const server = createServer(
    { ...options, ...tlsHandshakeOptions, cert, key, handshakeTimeout: 15_000 },
    handler,
  );
  certificate.onChange((next) =>
    server.setSecureContext({ ...tlsHandshakeOptions, cert: next.cert, key: next.key }),
  );
  return server;
}
