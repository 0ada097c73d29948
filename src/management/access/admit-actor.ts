import type { Account, Membership, Role } from '../../account/account.ts';
import { readMemberships } from '../../account/membership-store.ts';
import { type AccountId, parseAccountId } from '../../foundation/ids.ts';
import { notFound, Problem } from '../answer/problem.ts';
import type { ManagementParts } from '../management-parts.ts';
import { malformedParam } from '../path-params.ts';
import type { Actor } from './actor.ts';
import { isOperator } from './operator-store.ts';
import { type Access, type Permission, permissionsOf } from './permission.ts';

/** What the checks found out. */
export interface Admitted {
  readonly actor: Actor | undefined;
  /** The account of the path; undefined where the path has none, or an operator is about to make it. */
  readonly account: Account | undefined;
}

/**
 * Lets a call through or refuses it: 401 for strangers, 404 for accounts that the caller has no part in, whether they
 * exist or not, 403 for what the role or the scopes do not allow.
 */
export async function admitActor(
  parts: ManagementParts,
  actor: Actor | undefined,
  access: Access,
  accountText: string | undefined,
): Promise<Admitted> {
  if (access === 'public') return { actor, account: undefined };
  if (actor === undefined) {
    throw new Problem(
      'unauthenticated',
      'Send an access token or an API key as Bearer token, or sign in with a browser',
    );
  }
  if (access === 'signed-in') return { actor, account: undefined };
  if (access === 'operate') return admitOperator(parts, actor, accountText);
  const accountId = parseAccountId(accountText ?? '');
  if (accountId === undefined) throw malformedParam('accountId');
  const granted = await permissionsIn(parts, actor, accountId);
  const account = granted && (await parts.accounts.account(accountId));
  if (granted === undefined || account === undefined) throw notFound('account');
  if (!granted.has(access)) throw forbidden(access);
  return { actor, account };
}

async function admitOperator(
  parts: ManagementParts,
  actor: Actor,
  accountText: string | undefined,
): Promise<Admitted> {
  if (!(await mayOperate(parts, actor))) {
    throw new Problem('forbidden', 'This is for operators of the installation');
  }
  if (accountText === undefined) return { actor, account: undefined };
  const accountId = parseAccountId(accountText);
  if (accountId === undefined) throw malformedParam('accountId');
  return { actor, account: await parts.accounts.account(accountId) };
}

/** Only people operate, with a token that is bound to no single account. */
export async function mayOperate(parts: ManagementParts, actor: Actor): Promise<boolean> {
  if (actor.kind !== 'person' || actor.boundTo !== undefined) return false;
  return isOperator(parts.database.kysely, actor.personId);
}

/** What a caller may do in an account; undefined where the caller has no part in it. */
export async function permissionsIn(
  parts: ManagementParts,
  actor: Actor,
  accountId: AccountId,
): Promise<ReadonlySet<Permission> | undefined> {
  if (actor.kind === 'key') return actor.accountId === accountId ? actor.scopes : undefined;
  if (actor.boundTo !== undefined && actor.boundTo !== accountId) return undefined;
  const role = await roleIn(parts, actor, accountId);
  return role && permissionsOf[role];
}

async function roleIn(
  parts: ManagementParts,
  actor: Extract<Actor, { kind: 'person' }>,
  accountId: AccountId,
): Promise<Role | undefined> {
  const remembered = await parts.accounts.memberships(actor.personId);
  const role = roleAmong(remembered, accountId);
  // Who has just made an account goes on there at once, though the announcement may still be on its way to this process.
  return role ?? roleAmong(await readMemberships(parts.database.kysely, actor.personId), accountId);
}

function roleAmong(memberships: readonly Membership[], accountId: AccountId): Role | undefined {
  return memberships.find((membership) => membership.accountId === accountId)?.role;
}

function forbidden(permission: Permission): Problem {
  return new Problem('forbidden', `This needs the permission ${permission} in the account`, {
    extra: { permission },
  });
}
