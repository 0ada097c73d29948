import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';

/** Who asks for captured mail. */
export interface InboxReader {
  /** Undefined: a machine. */
  readonly personId: PersonId | undefined;
  /** The one account that a token or key acts for; undefined: all of the person's. */
  readonly boundTo: AccountId | undefined;
}

/**
 * Whether somebody may see the mail of all accounts, which is what the inbox holds: an operator, or whoever owns or develops
 * in every account there is. Strangers who share an installation do not see each other's password resets.
 */
export async function mayReadAllMail(
  kysely: Database['kysely'],
  { personId, boundTo }: InboxReader,
): Promise<boolean> {
  const { rows } = await sql<{ allowed: boolean }>`
    select exists (select from person where id = ${personId ?? null} and operator and disabled_at is null and ${boundTo === undefined})
      or not exists (
        select from account a where not a.system and (${boundTo !== undefined} and a.id <> ${boundTo ?? null}
          or ${personId !== undefined} and not exists (
            select from membership m
            where m.account_id = a.id and m.person_id = ${personId ?? null} and m.role in ('owner', 'developer')))) as allowed`.execute(
    kysely,
  );
  return rows[0]?.allowed === true;
}
