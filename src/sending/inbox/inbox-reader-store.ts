import { type Principal, personOf } from '../../accounts/access/principal.ts';
import { onlyAccount } from '../../accounts/account/reach.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';

/**
 * Whether a caller may see what accounts sent, which is captured for all of them together: owners and developers of every
 * account, and keys of the only one. Accounts that share an installation must not see each other's mail (demo data has
 * none). Who sees the service's own mail too, `authorize` decides: a link in it must not make anyone an operator (ASVS 4.0.3
 * section 4.1.3).
 */
export async function canReadMailOfAccounts(
  kysely: Kysely,
  principal: Principal,
): Promise<boolean> {
  const person = personOf(principal) ?? null;
  const rows = await allRows(kysely)`
    select where not exists (
      select from account a where not a.system and not a.demo and (a.id <> ${onlyAccount(principal.reach)}::text
        or ${person}::uuid is not null and not exists (
          select from membership m
          where m.account_id = a.id and m.person_id = ${person} and m.role in ('owner', 'developer'))))`;
  return rows.length > 0;
}
