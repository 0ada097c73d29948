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

/** `all`: also mail of the service itself. `accounts`: what accounts sent. */
export type ReadableMail = 'all' | 'accounts';

/**
 * What somebody may see of captured mail, which is that of the whole installation: an operator everything; whoever owns or
 * develops in every account there is what accounts sent. Strangers who share an installation do not see each other's mail, and
 * nobody becomes an operator by the link in an operator's mail (ASVS 4.0.3 section 4.1.3).
 */
export async function readableMail(
  kysely: Database['kysely'],
  { personId, boundTo }: InboxReader,
): Promise<ReadableMail | undefined> {
  const { rows } = await sql<{ all: boolean; accounts: boolean }>`
    select exists (select from person where id = ${personId ?? null} and operator and disabled_at is null and ${boundTo === undefined}) as "all",
      not exists (
        select from account a where not a.system and (${boundTo !== undefined} and a.id <> ${boundTo ?? null}
          or ${personId !== undefined} and not exists (
            select from membership m
            where m.account_id = a.id and m.person_id = ${personId ?? null} and m.role in ('owner', 'developer')))) as accounts`.execute(
    kysely,
  );
  if (rows[0]?.all === true) return 'all';
  return rows[0]?.accounts === true ? 'accounts' : undefined;
}
