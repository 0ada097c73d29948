import type { Kysely } from '../../../base/database/open-database.ts';
import type { PersonId } from '../../../base/values/ids.ts';
import type { SignInSettings } from '../../access/authorize.ts';
import { lockActiveAccount } from '../../account/account-store.ts';
import { createPerson, findPersonByEmail } from '../../account/person-store.ts';
import { type RequestOrigin, recordAuditEvent } from '../../audit/audit-store.ts';
import { hasVerifiedDomain } from '../../sender/sending-domain-store.ts';
import {
  createProviderIdentity,
  findProviderIdentity,
  recordProviderIdentityUse,
} from './provider-identity-store.ts';
import { grantedRoles, isVerifiedAddress, syncMemberships } from './provider-memberships.ts';
import { isUsableSubject, type ProviderClaims } from './read-provider-claims.ts';
import type { SignInProvider } from './sign-in-provider.ts';

/** Why a provider's person isn't signed in. */
export type AdmissionRefusal =
  | 'too-many-groups'
  | 'email-missing'
  | 'email-unverified'
  /** An account's provider may bring in only people with an address of the account's own domains. */
  | 'foreign-domain'
  /** The address or the person already has a user here, so the person must connect the provider first. */
  | 'not-linked'
  /** An account's provider never signs in operators, whose mail and rights are everyone's. */
  | 'operator'
  | 'no-member'
  | 'disabled'
  | 'unusable';

/** Who signs in, or why nobody does. */
export type Admission =
  | { readonly refusal: AdmissionRefusal; readonly personId?: PersonId | undefined }
  | {
      readonly refusal?: never;
      readonly personId: PersonId;
      readonly email: string;
      readonly identityId: string;
    };

export interface AdmissionRequest {
  readonly settings: SignInSettings;
  readonly provider: SignInProvider;
  readonly claims: ProviderClaims;
  readonly origin: RequestOrigin;
}

/**
 * Finds the person whom verified claims of a provider stand for, brings in new people whom it grants a membership, and adjusts
 * the memberships that it granted. Commits changes even if it refuses: a person who left the last group loses access.
 *
 * The issuer and subject identify a person, never the address (OpenID Connect Core section 5.7). An account's owners choose
 * its provider, so it can claim anything: it never signs in operators, nor people of other accounts who didn't connect it
 * themselves, and brings in only people with an address in a domain that the account has verified.
 */
export async function admitPerson(
  transaction: Kysely,
  request: AdmissionRequest,
): Promise<Admission> {
  const { settings, provider, claims, origin } = request;
  if (!isUsableSubject(claims.subject)) return { refusal: 'unusable' };
  const usesGroups = provider.members.some(({ who }) => 'group' in who);
  if (usesGroups && claims.groups === undefined) return { refusal: 'too-many-groups' };
  const granted = grantedRoles(provider, claims);
  const known = await findProviderIdentity(transaction, provider.accountId, claims);
  if (known === undefined) return bringIn(transaction, request, granted);
  const { personId } = known;
  if (known.disabled) return { refusal: 'disabled', personId };
  if (provider.accountId !== undefined && known.operator) return { refusal: 'operator', personId };
  const memberships = await syncMemberships(transaction, {
    settings,
    provider,
    personId,
    granted,
    mayBegin:
      provider.accountId === undefined ||
      (await findAddressProblem(transaction, request)) === undefined,
    origin,
  });
  const isElsewhere = memberships.some(({ accountId }) => accountId !== provider.accountId);
  if (provider.accountId !== undefined && !known.linked && isElsewhere)
    return { refusal: 'not-linked', personId };
  const reached =
    provider.accountId === undefined
      ? memberships.length > 0 || known.operator
      : memberships.some(
          ({ accountId, grantedBy }) =>
            accountId === provider.accountId && grantedBy !== 'installation',
        );
  if (!reached) return { refusal: 'no-member', personId };
  await recordProviderIdentityUse(transaction, known.id, claims);
  return { personId, email: known.email, identityId: known.id };
}

/** Creates a person whom the provider grants a membership. */
async function bringIn(
  transaction: Kysely,
  request: AdmissionRequest,
  granted: ReturnType<typeof grantedRoles>,
): Promise<Admission> {
  const { settings, provider, claims, origin } = request;
  const { email, issuer, subject } = claims;
  if (email === undefined) return { refusal: 'email-missing' };
  const problem = await findAddressProblem(transaction, request);
  if (problem !== undefined) return { refusal: problem };
  const isActive = await Promise.all(
    [...granted.keys()].map((accountId) => lockActiveAccount(transaction, accountId)),
  );
  if (!isActive.includes(true)) return { refusal: 'no-member' };
  // Only now, so that an account's provider learns nothing about addresses of others.
  const existing = await findPersonByEmail(transaction, email);
  if (existing !== undefined) return { refusal: 'not-linked', personId: existing.id };
  const person = await createPerson(transaction, {
    email,
    name: claims.name ?? email,
    passwordHash: undefined,
  });
  const personId = person.id;
  const identityId = await createProviderIdentity(transaction, {
    providerAccount: provider.accountId,
    issuer,
    subject,
    personId,
    linked: false,
  });
  if (identityId === undefined) throw new Error('the identity was created concurrently');
  await recordAuditEvent(transaction, {
    kind: 'person_created',
    personId,
    accountId: provider.accountId,
    origin,
    detail: { id: email, provider: issuer },
  });
  const sync = { settings, provider, personId, granted, mayBegin: true, origin };
  await syncMemberships(transaction, sync);
  await recordProviderIdentityUse(transaction, identityId, claims);
  return { personId, email, identityId };
}

/** Why a provider may not bring in a person with this address; undefined if it may. */
async function findAddressProblem(
  transaction: Kysely,
  { provider, claims }: AdmissionRequest,
): Promise<AdmissionRefusal | undefined> {
  if (!isVerifiedAddress(provider, claims)) return 'email-unverified';
  if (provider.accountId === undefined) return undefined;
  const domain = claims.email?.split('@').at(-1) ?? '';
  return (await hasVerifiedDomain(transaction, provider.accountId, domain))
    ? undefined
    : 'foreign-domain';
}
