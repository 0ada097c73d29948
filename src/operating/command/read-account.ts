import { readAccount } from '../../accounts/account/account-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { type AccountId, parseAccountId } from '../../base/values/ids.ts';
import { ResourceNotFound } from '../change/change-resource.ts';

/** @throws OperatorError if it is missing or invalid */
export function readAccountId(text: string | undefined): AccountId {
  if (text === undefined) throw new OperatorError('Name the account, such as 1000.');
  const accountId = parseAccountId(text);
  if (accountId === undefined) throw new OperatorError(`"${text}" is not a valid account ID.`);
  return accountId;
}

/** An unknown account would otherwise look like an empty one. @throws OperatorError if the account doesn't exist */
export async function requireAccount(kysely: Kysely, accountId: AccountId): Promise<void> {
  if ((await readAccount(kysely, accountId)) === undefined)
    throw new OperatorError(`Account ${accountId} not found.`);
}

/** @param what the resource and its name, such as `outbox orders` */
export function notInAccount(accountId: AccountId, what: string): OperatorError {
  return new OperatorError(`The account ${accountId} has no ${what}.`);
}

/** Handles the error of a change. @throws OperatorError if the account doesn't have what it is about */
export function orNotInAccount(accountId: AccountId, what: string) {
  return (error: unknown): never => {
    throw error instanceof ResourceNotFound ? notInAccount(accountId, what) : error;
  };
}
