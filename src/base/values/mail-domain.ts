import { domainToASCII } from 'node:url';

const maxOctets = 255;
/** Without the length octets of RFC 1035 section 2.3.4. */
const maxNameLength = 253;
// RFC 1035 section 2.3.4 and RFC 1123 section 2.1: labels of 1 to 63 letters, digits and inner hyphens.
// RFC 3696 section 2: a top-level name is never all digits; this also rejects bare IPv4 addresses.
const severalLabels =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const oneLabel = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const nonAscii = /\P{ASCII}/u;

export interface MailDomainOptions {
  /** Allows any single label, such as a host on the same network. By default, only `localhost`. */
  readonly allowOneLabel?: boolean;
}

/** Parses a domain of several labels, or `localhost`, to lower-case A-labels (RFC 5890); undefined if invalid. */
export function parseMailDomain(
  text: string,
  { allowOneLabel = false }: MailDomainOptions = {},
): string | undefined {
  const lower = text.toLowerCase();
  let domain = lower;
  if (nonAscii.test(domain) || domain.includes('xn--')) {
    // Returns an empty string for an invalid IDN. Not used for plain ASCII names, because it would convert `0x7f.1` to an
    // IP address.
    domain = domainToASCII(domain);
  }
  if (domain.length > maxOctets) return undefined;
  if (domain === 'localhost' || severalLabels.test(domain)) return domain;
  return allowOneLabel && oneLabel.test(lower) ? lower : undefined;
}

/** A host name of several labels, in lower-case A-labels (RFC 5890); undefined if invalid. */
export function parseDomainName(text: string): string | undefined {
  const domain = parseMailDomain(text);
  return domain === 'localhost' || (domain?.length ?? 0) > maxNameLength ? undefined : domain;
}
