import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';

/** Someone who requests captured mail. */
export interface InboxReader {
  /** Undefined: a program. */
  readonly personId: PersonId | undefined;
  /** The account of a token or key; undefined: all of the person's accounts. */
  readonly boundTo: AccountId | undefined;
}

/** `all` includes system mail; `accounts` is the mail that accounts sent. */
export type ReadableMail = 'all' | 'accounts';

/**
 * What a caller may see of captured mail, which belongs to the whole installation: an operator sees everything;
 * owners and developers of all accounts see what accounts sent. Accounts that share an installation must not see each
 * other's mail (demo data has none), and a link in an operator's mail must not make anyone an operator (ASVS 4.0.3 section 4.1.3).
 */
export async function readableMail(
  kysely: Database['kysely'],
  { personId, boundTo }: InboxReader,
): Promise<ReadableMail | undefined> {
  const { rows } = await sql<{ all: boolean; accounts: boolean }>`
    select exists (select from person where id = ${personId ?? null} and operator and disabled_at is null and ${boundTo === undefined}) as "all",
      not exists (
        select from account a where not a.system and not a.demo and (${boundTo !== undefined} and a.id <> ${boundTo ?? null}
          or ${personId !== undefined} and not exists (
            select from membership m
            where m.account_id = a.id and m.person_id = ${personId ?? null} and m.role in ('owner', 'developer')))) as accounts`.execute(
    kysely,
  );
  if (rows[0]?.all === true) return 'all';
  return rows[0]?.accounts === true ? 'accounts' : undefined;
}
