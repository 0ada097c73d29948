import { domainToASCII } from 'node:url';

/** Parses a host name of several labels, in A-labels; undefined if invalid. */
export function parseDomainName(text: string): string | undefined {
  const ascii = domainToASCII(text);
  const isValid = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/.test(ascii);
  return isValid && ascii.length <= 253 ? ascii : undefined;
}
