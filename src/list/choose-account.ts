import type { Account } from '../account/account.ts';
import type { AccountDirectory } from '../account/account-directory.ts';
import { Fault } from '../foundation/errors.ts';
import { type AccountId, parseAccountId } from '../foundation/ids.ts';
import type { Caller } from '../session/caller.ts';
import { ListQueryError } from './list-query.ts';

/**
 * The account that a listing is about: the one that the token is bound to, else the one named in `X-Account-Id`, else
 * the first membership of the token's person.
 * @param named the header's value
 * @throws Fault UNAUTHORIZED where the person belongs to no account, ACCOUNT_SUSPENDED; ListQueryError where the
 *   header names an account that the token does not act for
 */
export async function chooseAccount(
  accounts: AccountDirectory,
  caller: Caller,
  named: string | undefined,
): Promise<Account> {
  const allowed =
    caller.accountId === undefined
      ? (await accounts.memberships(caller.personId)).map(({ accountId }) => accountId)
      : [caller.accountId];
  const [first] = allowed;
  if (first === undefined) throw new Fault('UNAUTHORIZED');
  const account = await accounts.account(pick(allowed, named) ?? first);
  if (account === undefined) throw new Fault('UNAUTHORIZED');
  if (account.suspended) throw new Fault('ACCOUNT_SUSPENDED');
  return account;
}

/** Somebody else's account and one that does not exist are told apart by nothing. */
function pick(allowed: readonly AccountId[], named: string | undefined): AccountId | undefined {
  if (named === undefined || named === '') return undefined;
  const id = parseAccountId(named);
  if (id !== undefined && allowed.includes(id)) return id;
  throw new ListQueryError('X-Account-Id must name an account of this token');
}
