import { constants } from 'node:crypto';
import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { LiveCertificate } from './live-certificate.ts';

/** RFC 9325 section 4.2: forward secrecy and authenticated encryption; the first three are those of TLS 1.3. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** Of every certificate that clients of the API and of SMTP submission see. */
export const tlsHandshakeOptions = {
  ciphers,
  minVersion: 'TLSv1.2',
  honorCipherOrder: true,
  // Renegotiation costs the server more than the client.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

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
