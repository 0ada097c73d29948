import type { Account, Role } from '../account/account.ts';
import { type AccountId, type PersonId, parseAccountId } from '../foundation/ids.ts';
import type { MaybePromise } from '../foundation/maybe-promise.ts';
import { isListed } from '../foundation/network/block-list.ts';
import { type Access, type Permission, permissionsOf } from './permission.ts';
import type { Principal } from './principal.ts';
import { tokenPermissions } from './token-operations.ts';

/** What a request asks for. */
export interface Operation {
  /** Access tokens open operations of the contract only. */
  readonly api: 'contract' | 'management';
  readonly access: Access;
  /** The account as the path has it; undefined where it has none. */
  readonly accountText?: string | undefined;
  /** The address that the request comes from; asked for keys that are limited to networks. */
  readonly remoteAddress: () => string;
}

/** What decisions rest on. */
export interface AccessFacts {
  account(accountId: AccountId): MaybePromise<Account | undefined>;
  roleIn(personId: PersonId, accountId: AccountId): MaybePromise<Role | undefined>;
  isOperator(personId: PersonId): MaybePromise<boolean>;
}

/** Why a request is refused, the first reason that applies. */
export type Refusal =
  | 'unauthenticated'
  /** An access token on something else than an operation of the contract. */
  | 'token-not-accepted'
  | 'outside-networks'
  | 'not-operator'
  | 'malformed-account'
  /** The account doesn't exist or the principal has no part in it: nothing tells these apart. */
  | 'unknown-account'
  | 'insufficient-permission';

export type Decision =
  | { readonly refusal: Refusal; readonly account?: never }
  /** The account is undefined where the operation names none, or an operator is about to create it. */
  | { readonly refusal?: never; readonly account: Account | undefined };

const withoutAccount: Decision = Object.freeze({ account: undefined });

/**
 * Decides whether a principal may do something. This is the one place where that is decided, for the contract and the
 * management API alike (ASVS 4.0.3 section 4.1.1).
 * @returns a promise only where the database is asked
 */
export function authorize(
  facts: AccessFacts,
  principal: Principal | undefined,
  operation: Operation,
): MaybePromise<Decision> {
  const { api, access, accountText, remoteAddress } = operation;
  if (access === 'public') return withoutAccount;
  if (principal === undefined) return refuse('unauthenticated');
  if (principal.kind === 'token' && api !== 'contract') return refuse('token-not-accepted');
  if (isOutsideNetworks(principal, remoteAddress)) return refuse('outside-networks');
  if (access === 'signed-in') return withoutAccount;
  const accountId = accountText === undefined ? undefined : parseAccountId(accountText);
  if (access === 'operate') return authorizeOperator(facts, principal, accountText, accountId);
  if (accountId === undefined) return refuse('malformed-account');
  const account = facts.account(accountId);
  const granted = grantedPermissions(facts, principal, accountId);
  if (account instanceof Promise || granted instanceof Promise)
    return Promise.all([account, granted]).then(([found, permissions]) =>
      decide(found, permissions, access),
    );
  return decide(account, granted, access);
}

/**
 * What a principal may do in an account; undefined where it has no part in it.
 * @returns a promise only where the database is asked
 */
export function grantedPermissions(
  facts: Pick<AccessFacts, 'roleIn'>,
  principal: Principal,
  accountId: AccountId,
): MaybePromise<ReadonlySet<Permission> | undefined> {
  if (principal.kind === 'key')
    return principal.accountId === accountId ? principal.scopes : undefined;
  const bound = principal.kind === 'token' ? principal.accountId : undefined;
  if (bound !== undefined && bound !== accountId) return undefined;
  const grants = principal.kind === 'token' ? tokenPermissionsOf : permissionsOf;
  const role = facts.roleIn(principal.personId, accountId);
  if (role instanceof Promise) return role.then((found) => found && grants[found]);
  return role && grants[role];
}

/** What a token of a user with this role may do: what tokens may, as far as the role may. */
const tokenPermissionsOf = Object.fromEntries(
  Object.entries(permissionsOf).map(([role, granted]) => [
    role,
    new Set([...granted].filter((permission) => tokenPermissions.has(permission))),
  ]),
) as unknown as Readonly<Record<Role, ReadonlySet<Permission>>>;

function decide(
  account: Account | undefined,
  granted: ReadonlySet<Permission> | undefined,
  permission: Permission,
): Decision {
  if (account === undefined || granted === undefined) return refuse('unknown-account');
  return granted.has(permission) ? { account } : refuse('insufficient-permission');
}

/** Only people in a browser operate the installation. */
async function authorizeOperator(
  facts: AccessFacts,
  principal: Principal,
  accountText: string | undefined,
  accountId: AccountId | undefined,
): Promise<Decision> {
  if (principal.kind !== 'person' || !(await facts.isOperator(principal.personId)))
    return refuse('not-operator');
  if (accountText === undefined) return withoutAccount;
  if (accountId === undefined) return refuse('malformed-account');
  return { account: await facts.account(accountId) };
}

function isOutsideNetworks(principal: Principal, remoteAddress: () => string): boolean {
  if (principal.kind !== 'key' || principal.networks === undefined) return false;
  return !isListed(principal.networks, remoteAddress());
}

function refuse(refusal: Refusal): Decision {
  return { refusal };
}
