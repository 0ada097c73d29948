import { parseMailDomain } from './mail-domain.ts';

declare const brand: unique symbol;

/** A mailbox, `local@domain`: the local part as given, the domain in lower-case A-labels. */
export type EmailAddress = string & { readonly [brand]: 'EmailAddress' };

/** A normalized address; equal mailboxes are equal strings. */
export type ComparableAddress = string & { readonly [brand]: 'ComparableAddress' };

export type ParsedEmailAddress =
  | { readonly ok: true; readonly address: EmailAddress }
  | { readonly ok: false; readonly reason: string };

// RFC 5321 section 4.5.3.1: octets of a local part, and of a path without its angle brackets.
const MAX_LOCAL_OCTETS = 64;
const MAX_ADDRESS_OCTETS = 254;
/** Longer input is rejected before parsing; a UTF-16 unit is at least one octet. */
const MAX_INPUT_UNITS = 320;

// RFC 5322 section 3.2.3: dot-atom. No two parts can match the same character, so matching is linear.
const ASCII_LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
// RFC 6531 section 3.3 adds UTF8-non-ascii to atext; controls, formats, spaces and surrogates are still excluded.
const UNICODE_LOCAL =
  /^(?:[\w!#$%&'*+/=?^`{|}~-]|[^\p{C}\p{Z}\p{ASCII}])+(?:\.(?:[\w!#$%&'*+/=?^`{|}~-]|[^\p{C}\p{Z}\p{ASCII}])+)*$/u;
const NON_ASCII = /\P{ASCII}/u;

function invalid(reason: string): ParsedEmailAddress {
  return { ok: false, reason };
}

/**
 * Parses one mailbox without a display name, angle brackets, comments or surrounding space. Rejects some forms that RFC
 * 5321 allows: quoted local parts (section 4.1.2 discourages them), address literals, and single-label domains other than
 * `localhost`. International domains become A-labels (RFC 5890).
 */
export function parseEmailAddress(text: string): ParsedEmailAddress {
  if (text.length > MAX_INPUT_UNITS) return invalid('is longer than 254 octets');
  const at = text.lastIndexOf('@');
  if (at === -1) return invalid('has no @');
  if (at === 0) return invalid('has nothing before the @');
  if (at === text.length - 1) return invalid('has nothing after the @');
  let local = text.slice(0, at);
  if (!ASCII_LOCAL.test(local)) {
    // Normalized before validation, because NFC turns the Greek question mark (U+037E) into a semicolon.
    local = local.normalize('NFC');
    if (!UNICODE_LOCAL.test(local)) return invalid(reasonForLocal(local));
  }
  if (exceedsOctets(local, MAX_LOCAL_OCTETS))
    return invalid('has more than 64 octets before the @');
  const domain = parseMailDomain(text.slice(at + 1));
  if (domain === undefined) return invalid('has no valid domain after the @');
  const address = `${local}@${domain}`;
  if (exceedsOctets(address, MAX_ADDRESS_OCTETS)) return invalid('is longer than 254 octets');
  return { ok: true, address: address as EmailAddress };
}

/** Normalizes an address for comparison, which is case-insensitive. */
export function normalizeAddress(address: EmailAddress): ComparableAddress {
  return lowerCase(address) as ComparableAddress;
}

/** The normalized form of an address that someone typed; other text, which can equal no address, in lower case. */
export function comparableAddress(text: string): ComparableAddress {
  const parsed = parseEmailAddress(text);
  return parsed.ok ? normalizeAddress(parsed.address) : (lowerCase(text) as ComparableAddress);
}

/**
 * Text in lower case as `lower` of PostgreSQL writes it: each character by itself. JavaScript looks at the whole word for the
 * last sigma, and makes two characters of İ.
 */
export function lowerCase(text: string): string {
  if (!NON_ASCII.test(text)) return text.toLowerCase();
  return Array.from(text, (character) => (character === 'İ' ? 'i' : character.toLowerCase())).join(
    '',
  );
}

/** The part after the `@`: lower-case A-labels. */
export function domainOf(address: EmailAddress): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** True if the address requires SMTPUTF8 (RFC 6531), because its local part isn't ASCII. */
export function needsSmtpUtf8(address: EmailAddress): boolean {
  return NON_ASCII.test(address);
}

function reasonForLocal(local: string): string {
  if (/[\p{C}]/u.test(local)) return 'has control characters';
  if (/[\p{Z}]/u.test(local)) return 'has spaces';
  if (local.startsWith('"')) return 'has a quoted part before the @, which is not supported';
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) {
    return 'has a misplaced dot before the @';
  }
  return 'has invalid characters before the @';
}

/** True if a text has more octets; a UTF-16 unit is at most three UTF-8 octets. */
function exceedsOctets(text: string, octets: number): boolean {
  return text.length * 3 > octets && Buffer.byteLength(text) > octets;
}
