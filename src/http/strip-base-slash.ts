/** The contract's own paths below the base address. */
const contractPath = /^\/\/(?:token|authorize|api\/1\/list|ete\/v1\/[^?]*)\/?(?:\?|$)/;

/**
 * A target of the contract without the slash that a base address such as `https://mail.example/` adds to it: `//token` is
 * `/token`. Other paths stay as they are.
 */
export function stripBaseSlash(url: string): string {
  return url.startsWith('//') && contractPath.test(url) ? url.slice(1) : url;
}
