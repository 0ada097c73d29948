import type { RequestListener, ServerOptions } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { tlsHandshakeOptions } from './handshake-options.ts';
import { Http2Request, Http2Response } from './http2-messages.ts';
import { limitSession, maxStreams, type SessionTimes } from './limit-session.ts';
import type { LiveCertificate } from './live-certificate.ts';

/** Bytes of a body that can arrive before anything reads it, per stream and per connection. */
const windowBytes = 256 * 1024;

/** As many as Node allows in HTTP/1.1, with the overhead of RFC 9113 section 6.5.2. */
const maxHeaderBytes = 16 * 1024;

export interface TlsServerOptions {
  readonly certificate: LiveCertificate;
  /** Timeouts and checks of HTTP/1.1. */
  readonly http1: ServerOptions;
  readonly session: SessionTimes;
}

/**
 * Creates a server that speaks HTTP/2 and HTTP/1.1 over TLS 1.2 or later, as the client chooses (ALPN, RFC 7301). New
 * connections get the latest certificate.
 */
export function createTlsServer(
  { certificate, http1, session: times }: TlsServerOptions,
  handler: RequestListener,
): Http2SecureServer {
  const { cert, key } = certificate.current;
  const server = createSecureServer({
    ...http1,
    ...tlsHandshakeOptions,
    cert,
    key,
    handshakeTimeout: 15_000,
    allowHTTP1: true,
    Http2ServerRequest: Http2Request,
    Http2ServerResponse: Http2Response,
    maxHeaderListPairs: 128,
    maxSessionInvalidFrames: 100,
    maxSettings: 16,
    settings: {
      enablePush: false,
      maxConcurrentStreams: maxStreams,
      maxHeaderListSize: maxHeaderBytes,
      initialWindowSize: windowBytes,
    },
  });
  server.on('request', handler as never);
  server.on('session', (session) => {
    session.setLocalWindowSize(windowBytes);
    limitSession(session, times);
  });
  certificate.onChange((next) =>
    server.setSecureContext({ ...tlsHandshakeOptions, cert: next.cert, key: next.key }),
  );
  return server;
}
