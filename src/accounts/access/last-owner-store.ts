import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import type { Membership } from '../account/account.ts';
import { readAccount } from '../account/account-store.ts';
import { hasSecondFactor } from '../account/second-factor-sql.ts';
import { authorize, type SignInSettings } from './authorize.ts';
import type { PersonPrincipal } from './principal.ts';

/** Whom a change may lock out: the owners of these accounts, and the operators of the installation. */
export interface LockoutScope {
  readonly accounts: readonly AccountId[];
  readonly operators: boolean;
}

/** Who can't sign in anymore: all owners of an account, or all operators. */
export type LockedOut = { readonly accountId: AccountId } | 'operators';

type Group = AccountId | 'operators';

const isAccount = (group: Group): group is AccountId => group !== 'operators';

/** Why a change that locks all owners out isn't made; what to do first follows. */
export const lastOwnerReason =
  'no other owner could sign in: they are disabled, have no password, passkey or provider to sign in with, or don’t meet the access policy';

const lastOperatorReason =
  'no other operator could sign in: they are disabled, have no password, passkey or provider to sign in with, or lack a second factor';

/** Why a change of a person isn't made, and what to do first. */
export function describeLockout(locked: LockedOut): string {
  return locked === 'operators'
    ? `This is the last operator: ${lastOperatorReason}. Make another user an operator first`
    : `This is the last owner of the account ${locked.accountId}: ${lastOwnerReason}. Add another owner there first`;
}

/**
 * Makes a change, unless it locks all owners of an account or all operators out, although one of them could sign in before. It
 * decides nothing itself: someone can sign in if `authorize` lets in one of the sessions that they can begin. Locks the roles, so
 * that two people can't leave at once.
 * @returns who would be locked out; the change is undone then
 */
export async function changeWithoutLockout(
  transaction: Kysely,
  settings: SignInSettings,
  scope: LockoutScope,
  change: () => Promise<unknown>,
): Promise<LockedOut | undefined> {
  await run(transaction)`
    select from membership where account_id = any (${scope.accounts}::text[]) and role = 'owner'
    order by account_id, person_id for update`;
  if (scope.operators)
    await run(transaction)`select from person where operator order by id for no key update`;
  const before = await readAccess(transaction, settings, scope);
  await run(transaction)`savepoint before_change`;
  await change();
  const after = await readAccess(transaction, settings, scope);
  const lost = [...before].find(([who, access]) => (after.get(who) ?? 0) < access);
  if (lost === undefined) return undefined;
  await run(transaction)`rollback to savepoint before_change`;
  const [who] = lost;
  return isAccount(who) ? { accountId: who } : 'operators';
}

/** What a change of a person may lock out: the accounts that they own, and the installation. */
export async function lockoutScopeOf(
  transaction: Kysely,
  personId: PersonId,
): Promise<LockoutScope> {
  const rows = await allRows<{ id: AccountId }>(transaction)`
    select account_id as id from membership where person_id = ${personId} and role = 'owner' order by 1`;
  return { accounts: rows.map(({ id }) => id), operators: true };
}

/** An owner or operator who is enabled, and how they can sign in. */
interface Candidate {
  readonly personId: PersonId;
  readonly operator: boolean;
  /** The account that they own; null: read for the operators. */
  readonly accountId: AccountId | null;
  readonly grantedBy: 'installation' | 'account' | null;
  readonly hasPasswordOrPasskey: boolean;
  readonly hasSecondFactor: boolean;
  readonly identities: readonly {
    readonly account: AccountId | null;
    readonly issuer: string;
    readonly linked: boolean;
    readonly secondFactor: boolean;
  }[];
}

/** 2 if one of them can sign in, 1 if they only lack what they need for it, missing if there is none. */
type AccessLevels = ReadonlyMap<Group, number>;

async function readAccess(
  transaction: Kysely,
  settings: SignInSettings,
  scope: LockoutScope,
): Promise<AccessLevels> {
  const levels = new Map<Group, number>();
  for (const candidate of await readCandidates(transaction, scope)) {
    const who = candidate.accountId ?? 'operators';
    if (levels.get(who) === 2) continue;
    const level = (await canSignIn(transaction, settings, candidate)) ? 2 : 1;
    levels.set(who, Math.max(levels.get(who) ?? 0, level));
  }
  return levels;
}

function readCandidates(
  transaction: Kysely,
  { accounts, operators }: LockoutScope,
): Promise<Candidate[]> {
  return allRows<Candidate>(transaction)`
    with candidate as (
      select person_id, account_id, granted_by from membership
      where account_id = any (${accounts}::text[]) and role = 'owner'
      union all
      select id, null, null from person where operator and ${operators}::boolean)
    select p.id as "personId", p.operator, c.account_id as "accountId", c.granted_by as "grantedBy",
      p.password_hash is not null or exists (select from passkey k where k.person_id = p.id) as "hasPasswordOrPasskey",
      ${hasSecondFactor(sql.ref('p.id'))} as "hasSecondFactor",
      (select coalesce(jsonb_agg(jsonb_build_object('account', i.provider_account, 'issuer', i.issuer,
          'linked', i.linked or not exists (
            select from membership m where m.person_id = p.id and m.account_id <> i.provider_account),
          'secondFactor', i.second_factor)), '[]')
        from provider_identity i left join account_sign_in_provider s on s.account_id = i.provider_account
        where i.person_id = p.id and (i.provider_account is null or s.issuer = i.issuer)) as identities
    from candidate c join person p on p.id = c.person_id
    where p.disabled_at is null
    order by c.account_id, p.id`;
}

async function canSignIn(
  transaction: Kysely,
  settings: SignInSettings,
  candidate: Candidate,
): Promise<boolean> {
  const { accountId } = candidate;
  const account = accountId === null ? undefined : await readAccount(transaction, accountId);
  const facts = {
    ...settings,
    account: () => account,
    membership: (): Membership | undefined =>
      accountId === null
        ? undefined
        : { accountId, role: 'owner', grantedBy: candidate.grantedBy ?? undefined },
    isOperator: () => candidate.operator,
  };
  const operation = {
    api: 'management',
    access: accountId === null ? 'operate' : 'users:read',
    accountText: accountId ?? undefined,
    // From where the policy wants it: an owner can go there.
    remoteAddress: () => account?.policy?.peopleNetworks[0]?.split('/')[0] ?? '127.0.0.1',
  } as const;
  for (const session of sessionsOf(settings, candidate)) {
    const { refusal } = await authorize(facts, session, operation);
    if (refusal === undefined) return true;
  }
  return false;
}

/** The sessions that a person can begin now. */
function sessionsOf(settings: SignInSettings, candidate: Candidate): PersonPrincipal[] {
  const { personId, operator, identities } = candidate;
  const sessions: PersonPrincipal[] = [];
  const kind = 'person';
  const confirmedAgo = 0;
  const ofInstallation = identities.filter(
    ({ account, issuer }) => account === null && issuer === settings.provider?.issuer,
  );
  const mustUseProvider =
    settings.provider?.onlyProvider === true && ofInstallation.length > 0 && !operator;
  if (candidate.hasPasswordOrPasskey && !mustUseProvider)
    sessions.push({
      ...{ kind, personId, confirmedAgo, reach: 'all', byProvider: false },
      hasSecondFactor: candidate.hasSecondFactor,
    });
  // Providers of accounts sign in no operators, and those whom they brought in, once these belong to other accounts, only after
  // connecting them.
  const ofAccounts = identities.filter(
    ({ account, linked }) => account !== null && linked && !operator,
  );
  for (const { account, secondFactor } of [...ofInstallation, ...ofAccounts])
    sessions.push({
      ...{ kind, personId, confirmedAgo, byProvider: true },
      reach: account === null ? 'all' : { accountId: account },
      hasSecondFactor: secondFactor || candidate.hasSecondFactor,
    });
  return sessions;
}
