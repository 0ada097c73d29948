import { sql } from 'kysely';
import { accountLimits } from '../../../accounts/account/account-limits.ts';
import type { Kysely } from '../../../base/database/open-database.ts';
import { allRows, run } from '../../../base/database/statements.ts';
import type { AccountId, PersonId } from '../../../base/values/ids.ts';

/** Whose filters they are. */
interface FilterOwner {
  readonly accountId: AccountId;
  readonly personId: PersonId;
}

interface SavedFilter<Query> {
  readonly name: string;
  readonly query: Query;
}

/** Filters of one person in one account. */
export const maxSavedFilters = accountLimits.savedFilters.max;

/** Sorted by name as JavaScript compares text. */
export async function readSavedFilters<Query>(
  kysely: Kysely,
  { accountId, personId }: FilterOwner,
): Promise<SavedFilter<Query>[]> {
  return await allRows<SavedFilter<Query>>(kysely)`
    select name, query from saved_filter
    where account_id = ${accountId} and person_id = ${personId}
    order by name collate "C"`;
}

/** @returns false if the person has too many filters already */
export async function saveFilter(
  kysely: Kysely,
  { accountId, personId }: FilterOwner,
  { name, query }: SavedFilter<object>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into saved_filter (account_id, person_id, name, query)
    select m.account_id, m.person_id, ${name}, ${JSON.stringify(query)}::jsonb from membership m
    where m.account_id = ${accountId} and m.person_id = ${personId}
      and (select count(*) from saved_filter s
        where s.account_id = ${accountId} and s.person_id = ${personId} and s.name <> ${name}) < ${maxSavedFilters}
    on conflict (account_id, person_id, name) do update set query = excluded.query`.execute(kysely);
  return numAffectedRows === 1n;
}

export async function removeFilter(
  kysely: Kysely,
  { accountId, personId }: FilterOwner,
  name: string,
): Promise<void> {
  await run(kysely)`
    delete from saved_filter
    where account_id = ${accountId} and person_id = ${personId} and name = ${name}`;
}
