import { sql } from 'kysely';
import type { Role } from '../../account/account.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../../foundation/ids.ts';

/** A member of an account as the other members see it. */
export interface MemberFacts {
  readonly personId: PersonId;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  readonly since: Date;
}

/** The members of an account by address, or the one with an address. */
export async function readMemberFacts(
  kysely: Database['kysely'],
  accountId: AccountId,
  filter: { readonly email?: string; readonly after?: string; readonly limit?: number } = {},
): Promise<MemberFacts[]> {
  const { email = null, after = '', limit = 1 } = filter;
  const { rows } = await sql<MemberFacts>`
    select m.person_id as "personId", p.email, p.name, m.role, p.disabled_at is not null as disabled,
      p.password_hash is not null as "hasPassword",
      exists (select from second_factor f where f.person_id = p.id and f.confirmed_at is not null) as "hasSecondFactor",
      m.created_at as since
    from membership m join person p on p.id = m.person_id
    where m.account_id = ${accountId} and p.email > ${after} and (${email}::text is null or p.email = ${email})
    order by p.email limit ${limit}`.execute(kysely);
  return rows;
}

/** How many owners an account has who can sign in. */
export async function countOwners(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from membership m join person p on p.id = m.person_id
    where m.account_id = ${accountId} and m.role = 'owner' and p.disabled_at is null`.execute(
    kysely,
  );
  return rows[0]?.count ?? 0;
}
