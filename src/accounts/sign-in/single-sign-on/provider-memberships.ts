import type { Kysely } from '../../../base/database/open-database.ts';
import type { AccountId, PersonId } from '../../../base/values/ids.ts';
import type { SignInSettings } from '../../access/authorize.ts';
import { changeWithoutLockout } from '../../access/last-owner-store.ts';
import type { Membership, Role } from '../../account/account.ts';
import { checkLimits } from '../../account/account-limit-store.ts';
import { lockActiveAccount } from '../../account/account-store.ts';
import {
  readMemberships,
  removeMembership,
  saveMembership,
} from '../../account/membership-store.ts';
import { type RequestOrigin, recordAuditEvent } from '../../audit/audit-store.ts';
import type { ProviderClaims } from './read-provider-claims.ts';
import { type ProviderRole, providerRoles, type SignInProvider } from './sign-in-provider.ts';

/** Whether an address is certainly the person's. */
export function isVerifiedAddress(
  { trustEmail }: Pick<SignInProvider, 'trustEmail'>,
  { email, emailVerified }: Pick<ProviderClaims, 'email' | 'emailVerified'>,
): boolean {
  return email !== undefined && (emailVerified || trustEmail);
}

/**
 * The role in each account that a provider grants to a person by group or by the domain of a verified address; the most
 * powerful one if there are several.
 */
export function grantedRoles(
  provider: Pick<SignInProvider, 'members' | 'trustEmail'>,
  claims: Pick<ProviderClaims, 'email' | 'emailVerified' | 'groups'>,
): ReadonlyMap<AccountId, ProviderRole> {
  const domain = isVerifiedAddress(provider, claims) ? claims.email?.split('@').at(-1) : undefined;
  const granted = new Map<AccountId, ProviderRole>();
  for (const { accountId, role, who } of provider.members) {
    const applies = 'group' in who ? claims.groups?.has(who.group) : who.domain === domain;
    const known = granted.get(accountId);
    if (!applies || (known && providerRoles.indexOf(known) <= providerRoles.indexOf(role)))
      continue;
    granted.set(accountId, role);
  }
  return granted;
}

/** What a sign-in changes about memberships. */
interface MembershipSync {
  readonly settings: SignInSettings;
  readonly provider: Pick<SignInProvider, 'accountId'>;
  readonly personId: PersonId;
  readonly granted: ReadonlyMap<AccountId, Role>;
  /** False: keeps and ends memberships, but doesn't add any. */
  readonly mayBegin: boolean;
  readonly origin: RequestOrigin;
}

/**
 * Makes the memberships that a provider granted equal to those it grants now. Memberships that people granted stay as they
 * are, an account keeps the last owner who can sign in, and one that is suspended only loses members.
 * @returns the memberships afterwards
 */
export async function syncMemberships(
  transaction: Kysely,
  { settings, provider, personId, granted, mayBegin, origin }: MembershipSync,
): Promise<readonly Membership[]> {
  const grantedBy = provider.accountId === undefined ? 'installation' : 'account';
  const record = (kind: string, accountId: AccountId, role: Role) =>
    recordAuditEvent(transaction, { kind, personId, accountId, origin, detail: { role } });
  const before = await readMemberships(transaction, { personId, reach: 'all' });
  const own = before.filter(
    ({ accountId, grantedBy: by }) =>
      by === grantedBy && (provider.accountId === undefined || provider.accountId === accountId),
  );
  for (const { accountId, role } of own) {
    const now = granted.get(accountId);
    if (now === role) continue;
    if (now !== undefined && !(await lockActiveAccount(transaction, accountId))) continue;
    const scope = { accounts: [accountId], operators: false };
    await changeWithoutLockout(transaction, settings, scope, async () => {
      if (now === undefined) {
        await removeMembership(transaction, accountId, personId);
        await record('membership_ended', accountId, role);
      } else {
        await saveMembership(transaction, { accountId, personId, role: now, grantedBy });
        await record('membership_changed', accountId, now);
      }
    });
  }
  const isMember = new Set(before.map(({ accountId }) => accountId));
  const begun = mayBegin ? [...granted].filter(([accountId]) => !isMember.has(accountId)) : [];
  for (const [accountId, role] of begun) {
    // An operator's setting may name an account that doesn't exist.
    if (!(await lockActiveAccount(transaction, accountId))) continue;
    await saveMembership(transaction, { accountId, personId, role, grantedBy });
    await checkLimits(transaction, accountId, ['users']);
    await record('membership_begun', accountId, role);
  }
  return readMemberships(transaction, { personId, reach: 'all' });
}
