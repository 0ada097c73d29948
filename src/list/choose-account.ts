import type { BearerPrincipal } from '../access/principal.ts';
import type { AccountDirectory } from '../account/account-directory.ts';
import { Fault } from '../foundation/errors.ts';
import { type AccountId, parseAccountId } from '../foundation/ids.ts';
import { ListQueryError } from './list-query.ts';

/**
 * Chooses the account of a listing: the API key's, else the one that the token is bound to, else the one named in
 * `X-Account-Id`, else the first membership of the token's user.
 * @param named the header's value
 * @throws Fault UNAUTHORIZED if the user belongs to no account; ListQueryError if the header names an account that
 * the caller has no access to
 */
export async function chooseAccount(
  accounts: Pick<AccountDirectory, 'memberships'>,
  caller: BearerPrincipal,
  named: string | undefined,
): Promise<AccountId> {
  const allowed =
    caller.kind === 'token'
      ? (await accounts.memberships(caller)).map(({ accountId }) => accountId)
      : [caller.reach.accountId];
  const [first] = allowed;
  if (first === undefined) throw new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
  if (named === undefined || named === '') return first;
  const id = parseAccountId(named);
  if (id !== undefined && allowed.includes(id)) return id;
  // The error must not reveal whether someone else's account exists.
  throw new ListQueryError('X-Account-Id must name an account of this token');
}
