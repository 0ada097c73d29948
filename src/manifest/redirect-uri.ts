const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Why a redirect URL cannot be registered, or undefined. RFC 6749 section 3.1.2: absolute, without a fragment.
 * RFC 8252 section 7: plain http for the loopback only; a private scheme contains a dot, as it is a reversed domain.
 */
export function findRedirectUriProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'must be an absolute URL';
  if (/[^\x21-\x7e]/.test(text)) return 'must consist of ASCII characters without spaces';
  if (text.includes('#')) return 'must not have a fragment (#…)';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or password';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:')
    return loopbackHosts.has(url.hostname) ? undefined : 'must be https unless it is the loopback';
  if (url.protocol.includes('.')) return undefined;
  return 'must be https, http on the loopback, or a private scheme such as com.example.app:/callback';
}
