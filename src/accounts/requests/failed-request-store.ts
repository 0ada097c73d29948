import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { AccountId, ClientId } from '../../base/values/ids.ts';

/** A request that failed, as its account can look it up. */
export interface StoredFailure {
  readonly accountId: AccountId;
  readonly id: string;
  readonly clientId: ClientId;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly error: string;
  readonly details: readonly FaultDetail[];
}

/** What an account has of them; the oldest go. */
export const maxFailures = 10_000;

/** Adds failures of accounts that exist, and removes the oldest ones of accounts that have too many. */
export async function addFailures(kysely: Kysely, added: readonly StoredFailure[]): Promise<void> {
  await run(kysely)`
    insert into failed_request (account_id, id, client_id, method, route, status, error, details)
    select account.id, given.id, "clientId", method, route, status, error, details
    from jsonb_to_recordset(${JSON.stringify(added)}::jsonb)
      as given ("accountId" text, id uuid, "clientId" text, method text, route text, status smallint, error text, details jsonb)
    join account on account.id = given."accountId"
    on conflict do nothing`;
  await run(kysely)`
    delete from failed_request using unnest(${[...new Set(added.map(({ accountId }) => accountId))]}::text[]) as given (id)
    where account_id = given.id and failed_request.id <= (
      select newer.id from failed_request newer where newer.account_id = given.id
      order by newer.id desc offset ${maxFailures} limit 1)`;
}

/** What an account looks for. */
export interface FailureFilter {
  readonly clientId?: string | undefined;
  readonly error?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Failures of an account, newest first, with the name of the key or OAuth app while it exists. */
export function readFailures(
  kysely: Kysely,
  accountId: AccountId,
  { clientId, error, before, limit }: FailureFilter,
) {
  return allRows<StoredFailure & { readonly at: Date; readonly clientName: string | null }>(kysely)`
    select f.id, f.at, f.client_id as "clientId", coalesce(k.name, i.name) as "clientName",
      f.method, f.route, f.status, f.error, f.details
    from failed_request f
    left join api_key k on k.account_id = f.account_id and k.id::text = f.client_id
    left join integration i on i.client_id = f.client_id
    where f.account_id = ${accountId} ${before === undefined ? sql`` : sql`and f.id < ${before}`}
      ${clientId === undefined ? sql`` : sql`and f.client_id = ${clientId}`}
      ${error === undefined ? sql`` : sql`and f.error = ${error}`}
    order by f.id desc limit ${limit}`;
}
