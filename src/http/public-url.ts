import type { Http } from './create-http.ts';

/**
 * The address that others see, without a trailing slash: PUBLIC_URL, or where the server listens.
 * A Host header is never believed.
 */
export function publicUrl(http: Http, configured: string | undefined): string {
  if (configured !== undefined) return configured;
  const address = http.server.address();
  if (address === null || typeof address === 'string') return 'http://localhost';
  const wildcard = address.address === '0.0.0.0' || address.address === '::';
  const host = wildcard ? '127.0.0.1' : address.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
