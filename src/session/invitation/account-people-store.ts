import { sql } from 'kysely';
import type { Role } from '../../account/account.ts';
import { hasSecondFactor } from '../../account/second-factor-sql.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../../foundation/ids.ts';

/** A member or an invited person, as the other members see them. */
export interface MemberFacts {
  /** Null for an invited person, so members can't see whether the address already has a sign-in. */
  readonly personId: PersonId | null;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  readonly since: Date;
  readonly invitation: { readonly invitedBy: string; readonly expiresAt: Date } | null;
}

interface MemberRow extends Omit<MemberFacts, 'invitation'> {
  readonly invitedBy: string | null;
  readonly expiresAt: Date | null;
}

/** Members and invitations of an account, ordered by address, or the one with the given address. */
export async function readMemberFacts(
  kysely: Database['kysely'],
  accountId: AccountId,
  filter: { readonly email?: string; readonly after?: string; readonly limit?: number } = {},
): Promise<MemberFacts[]> {
  const { email = null, after = '', limit = 1 } = filter;
  const { rows } = await sql<MemberRow>`
    select m.person_id as "personId", p.email, p.name, m.role, p.disabled_at is not null as disabled,
      p.password_hash is not null as "hasPassword",
      ${hasSecondFactor(sql.ref('p.id'))} as "hasSecondFactor",
      m.created_at as since, null as "invitedBy", null::timestamptz as "expiresAt"
    from membership m join person p on p.id = m.person_id
    where m.account_id = ${accountId} and p.email > ${after} and (${email}::text is null or p.email = ${email})
    union all
    select null, i.email, coalesce(i.name, ''), i.role, false, false, false, i.created_at, w.email, i.expires_at
    from invitation i join person w on w.id = i.invited_by
    where i.account_id = ${accountId} and i.email > ${after} and (${email}::text is null or i.email = ${email})
      and i.withdrawn_at is null and not exists (
        select from membership m join person p on p.id = m.person_id
        where m.account_id = ${accountId} and p.email = i.email)
    order by email limit ${limit}`.execute(kysely);
  return rows.map(({ invitedBy, expiresAt, ...facts }) => ({
    ...facts,
    invitation: invitedBy === null || expiresAt === null ? null : { invitedBy, expiresAt },
  }));
}
