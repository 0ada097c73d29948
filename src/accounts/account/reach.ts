import type { AccountId, PersonId } from '../../base/values/ids.ts';

/** One account, and nothing beyond it. */
export interface AccountReach {
  readonly accountId: AccountId;
}

/** How far a caller's rights go: to every account of its person, or to one. */
export type Reach = 'all' | AccountReach;

/** A person as far as a caller reaches. What is shown of people, or done to them, takes this, never the bare ID. */
export interface ReachedPerson {
  readonly personId: PersonId;
  readonly reach: Reach;
}

export function doesReach(reach: Reach, accountId: AccountId): boolean {
  return reach === 'all' || reach.accountId === accountId;
}

/** For statements: the only account that is reached; null: there is no limit. */
export function onlyAccount(reach: Reach): AccountId | null {
  return reach === 'all' ? null : reach.accountId;
}

/** The reach that a nullable column of an account stands for. */
export function reachOf(accountId: AccountId | null): Reach {
  return accountId === null ? 'all' : { accountId };
}
