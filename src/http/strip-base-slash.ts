/** The contract's paths below the base URL. */
const contractPath = /^\/\/(?:token|authorize|api\/1\/list|ete\/v1\/[^?]*)\/?(?:\?|$)/;

/**
 * Removes the extra slash that a base URL such as `https://mail.example/` adds to a contract path: `//token` becomes
 * `/token`. Other paths are unchanged.
 */
export function stripBaseSlash(url: string): string {
  return url.startsWith('//') && contractPath.test(url) ? url.slice(1) : url;
}
