import { sql } from 'kysely';
import type { Principal } from '../access/principal.ts';
import { personOf } from '../access/principal.ts';
import { onlyAccount } from '../account/reach.ts';
import type { Database } from '../foundation/database/open-database.ts';

/** `all` includes system mail; `accounts` is the mail that accounts sent. */
export type ReadableMail = 'all' | 'accounts';

/**
 * What a caller may see of captured mail, which belongs to the whole installation: an operator sees everything;
 * owners and developers of all accounts see what accounts sent. Accounts that share an installation must not see each
 * other's mail (demo data has none), and a link in an operator's mail must not make anyone an operator (ASVS 4.0.3 section 4.1.3).
 */
export async function readableMail(
  kysely: Database['kysely'],
  principal: Principal,
): Promise<ReadableMail | undefined> {
  const person = personOf(principal) ?? null;
  const bound = onlyAccount(principal.reach);
  const { rows } = await sql<{ all: boolean; accounts: boolean }>`
    select ${bound}::text is null and exists (
        select from person where id = ${person} and operator and disabled_at is null) as "all",
      not exists (
        select from account a where not a.system and not a.demo and (a.id <> ${bound}::text
          or ${person}::uuid is not null and not exists (
            select from membership m
            where m.account_id = a.id and m.person_id = ${person} and m.role in ('owner', 'developer')))) as accounts`.execute(
    kysely,
  );
  if (rows[0]?.all === true) return 'all';
  return rows[0]?.accounts === true ? 'accounts' : undefined;
}
