import type { EmailAddress } from '../../../base/values/email-address.ts';
import { parseEmailAddress } from '../../../base/values/email-address.ts';

const maxNameLength = 200;
/** OpenID Connect Core section 2 limits a subject to 255 ASCII characters. */
const maxSubjectLength = 255;
const maxGroups = 1_000;
const maxGroupLength = 256;

/** What a provider says about the person who signed in there. */
export interface ProviderClaims {
  readonly issuer: string;
  readonly subject: string;
  /** Lowercase; undefined if there is none or it isn't valid. */
  readonly email: EmailAddress | undefined;
  /** The provider says that the address is the person's. */
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  /** Undefined: too many to be in a token, so nothing is known about them. */
  readonly groups: ReadonlySet<string> | undefined;
  /** When the person signed in at the provider; undefined if it doesn't say. */
  readonly authenticatedAt: Date | undefined;
  /** The person used several factors. */
  readonly secondFactor: boolean;
}

/** `acr` values that stand for several factors: OpenID Connect EAP ACR Values 1.0, and PAPE. */
const strongClasses: ReadonlySet<unknown> = new Set([
  'phr',
  'phrh',
  'http://schemas.openid.net/pape/policies/2007/06/multi-factor',
  'http://schemas.openid.net/pape/policies/2007/06/phishing-resistant',
]);

/** Reads verified claims, of which a provider can leave out or change any. */
export function readProviderClaims(claims: {
  readonly iss: string;
  readonly sub: string;
  readonly [name: string]: unknown;
}): ProviderClaims {
  const { iss, sub, email, name, auth_time: time, amr, acr } = claims;
  const parsed = typeof email === 'string' ? parseEmailAddress(email.toLowerCase()) : undefined;
  return {
    issuer: iss,
    subject: sub,
    email: parsed?.ok ? parsed.address : undefined,
    // Some providers send it as text.
    emailVerified: claims.email_verified === true || claims.email_verified === 'true',
    name: storableName(name),
    groups: readGroups(claims),
    authenticatedAt:
      typeof time === 'number' && Number.isFinite(time) && Math.abs(time) < 1e11
        ? new Date(time * 1_000)
        : undefined,
    secondFactor: (Array.isArray(amr) && amr.includes('mfa')) || strongClasses.has(acr),
  };
}

/** Whether a subject can be stored. */
export function isUsableSubject(subject: string): boolean {
  return /^[\x20-\x7e]+$/.test(subject) && subject.length <= maxSubjectLength;
}

function storableName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  const text = name
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxNameLength);
  return text === '' ? undefined : text.toWellFormed();
}

/** A provider that leaves the claim out knows no groups; one that refers to another place has too many (Microsoft Entra). */
function readGroups(claims: Readonly<Record<string, unknown>>): ReadonlySet<string> | undefined {
  const elsewhere = claims._claim_names;
  if (typeof elsewhere === 'object' && elsewhere !== null && 'groups' in elsewhere)
    return undefined;
  if (claims.hasgroups === true || claims.hasgroups === 'true') return undefined;
  const { groups } = claims;
  const list = typeof groups === 'string' ? [groups] : Array.isArray(groups) ? groups : [];
  if (list.length > maxGroups) return undefined;
  return new Set(
    list.filter(
      (group): group is string => typeof group === 'string' && group.length <= maxGroupLength,
    ),
  );
}
