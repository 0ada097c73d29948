import type { Account } from '../account/account.ts';
import type { AccountDirectory } from '../account/account-directory.ts';
import { Fault } from '../foundation/errors.ts';
import { type AccountId, parseAccountId } from '../foundation/ids.ts';
import type { Caller } from '../session/caller.ts';
import type { TokenChecker } from '../session/check-token.ts';

/** A value, or the promise of one where the database has to be asked: hot paths wait only for the latter. */
export type Eventual<Value> = Value | Promise<Value>;

export interface AdmissionParts {
  readonly tokens: Pick<TokenChecker, 'authenticate'>;
  readonly accounts: Pick<AccountDirectory, 'account' | 'isMember'>;
}

/** Who calls, and the account of the path that the caller may act in. */
export interface Admission {
  readonly caller: Caller;
  readonly account: Account;
}

/**
 * The first two checks of every operation on an account: 1 a valid token, 2 an account that is known and one of the
 * token's. Whether the account exists at all is not to be told apart from whether it is the caller's.
 * @throws Fault UNAUTHORIZED or INVALID_ID
 */
export function admitCaller(
  parts: AdmissionParts,
  authorization: string | undefined,
  accountText: string,
): Eventual<Admission> {
  const caller = parts.tokens.authenticate(authorization);
  return caller instanceof Promise
    ? caller.then((found) => admitTo(parts, found, accountText))
    : admitTo(parts, caller, accountText);
}

function admitTo(
  parts: AdmissionParts,
  caller: Caller | undefined,
  accountText: string,
): Eventual<Admission> {
  if (caller === undefined) throw new Fault('UNAUTHORIZED');
  const accountId = parseAccountId(accountText);
  if (accountId === undefined) throw unknownAccount();
  const account = parts.accounts.account(accountId);
  const member = parts.accounts.isMember(caller.personId, accountId);
  if (account instanceof Promise || member instanceof Promise) {
    return Promise.all([account, member]).then(([found, isMember]) =>
      decide(caller, accountId, found, isMember),
    );
  }
  return decide(caller, accountId, account, member);
}

function decide(
  caller: Caller,
  accountId: AccountId,
  account: Account | undefined,
  isMember: boolean,
): Admission {
  const bound = caller.accountId;
  const allowed = isMember && (bound === undefined || bound === accountId);
  if (account === undefined || !allowed) throw unknownAccount();
  return { caller, account };
}

function unknownAccount(): Fault {
  return new Fault('INVALID_ID', {
    details: [{ field: 'accountId', reason: 'is not an account of this token' }],
  });
}
