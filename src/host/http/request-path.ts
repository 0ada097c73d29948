import type { IncomingMessage } from 'node:http';

/**
 * Escapes percent signs in a path that can't be decoded, so that it reaches its route and gets an error in that route's
 * order of checks.
 */
export function escapeMalformedPercent(url: string): string {
  if (!url.includes('%')) return url;
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}

/** The contract's paths below the base URL. */
const contractPath = /^\/\/(?:token|authorize|api\/1\/list|ete\/v1\/[^?]*)\/?(?:\?|$)/;

/**
 * Removes the extra slash that a base URL such as `https://mail.example/` adds to a contract path: `//token` becomes
 * `/token`. Other paths are unchanged.
 */
export function stripBaseSlash(url: string): string {
  return url.startsWith('//') && contractPath.test(url) ? url.slice(1) : url;
}

/** Puts the prefix of the request's host before its path. Paths in absolute form (RFC 9112 section 3.2.2) stay as they are. */
export function addHostPrefix(
  request: Pick<IncomingMessage, 'headers' | 'url'>,
  prefixes: ReadonlyMap<string, string>,
): void {
  const { headers, url = '/' } = request;
  const prefix = prefixes.get((headers.host ?? '').replace(/:\d*$/, '').toLowerCase());
  if (prefix !== undefined && url.startsWith('/')) request.url = prefix + url;
}
