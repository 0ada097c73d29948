import { domainToASCII } from 'node:url';

/** A host name of several labels, in A-labels; undefined for what is none. */
export function parseDomainName(text: string): string | undefined {
  const ascii = domainToASCII(text);
  const usable = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/.test(ascii);
  return usable && ascii.length <= 253 ? ascii : undefined;
}
