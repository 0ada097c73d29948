import type { GrantType } from './integration-store.ts';

/** Of an integration that is registered without one. */
export const defaultRedirectUri = 'https://localhost/callback';

/** Of an integration that is registered without any. */
export const defaultGrants: readonly GrantType[] = ['authorization_code', 'refresh_token'];

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Why a redirect URL can't be registered, or undefined. RFC 6749 section 3.1.2: absolute, without a fragment. RFC 8252
 * section 7: plain http only on loopback; a private scheme is a reversed domain, so it contains a dot.
 */
export function findRedirectUriProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'must be an absolute URL';
  if (/[^\x21-\x7e]/.test(text)) return 'must consist of ASCII characters without spaces';
  if (text.includes('#')) return 'must not have a fragment (#…)';
  if (url.username !== '' || url.password !== '') return 'must not contain a user or password';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:')
    return loopbackHosts.has(url.hostname)
      ? undefined
      : 'must be https unless the host is loopback';
  if (url.protocol.includes('.')) return undefined;
  return 'must be https, http on loopback, or a private scheme such as com.example.app:/callback';
}
