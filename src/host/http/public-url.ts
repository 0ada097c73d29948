import { Server as TlsServer } from 'node:tls';
import type { Http } from './create-http.ts';

/**
 * The public base URL, without a trailing slash: PUBLIC_URL, or the address the server listens on. Host headers are
 * never trusted.
 */
export function publicUrl(http: Http, configured: string | undefined): string {
  if (configured !== undefined) return configured;
  const address = http.server.address();
  const scheme = http.server instanceof TlsServer ? 'https' : 'http';
  if (address === null || typeof address === 'string') return `${scheme}://localhost`;
  const wildcard = address.address === '0.0.0.0' || address.address === '::';
  const host = wildcard ? '127.0.0.1' : address.address;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
