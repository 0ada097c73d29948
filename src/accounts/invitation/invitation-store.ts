import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, hasRow, run } from '../../base/database/statements.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import type { Role } from '../account/account.ts';
import { hasSecondFactor } from '../account/second-factor-sql.ts';

/** Days for which an invitation is valid. */
export const invitationDays = 7;
/** Minutes between two emails for one invitation. */
const resendIntervalMinutes = 2;

export interface NewInvitation {
  readonly accountId: AccountId;
  /** Lowercase. */
  readonly email: string;
  readonly role: Role;
  readonly name: string | undefined;
  readonly invitedBy: PersonId;
}

/**
 * Saves an invitation, replacing an earlier one for the same address.
 * @returns false if the earlier one was mailed a moment ago; nothing is saved then
 */
export function saveInvitation(
  transaction: Kysely,
  { accountId, email, role, name, invitedBy }: NewInvitation,
  hash: Buffer,
): Promise<boolean> {
  return hasRow(transaction)`
    with moment as (select now() as now)
    insert into invitation as i (account_id, email, hash, role, name, invited_by, sent_at, expires_at)
    select ${accountId}, ${email}, ${hash}, ${role}, ${name ?? null}, ${invitedBy}, now,
      now + ${invitationDays} * interval '1 day' from moment
    on conflict (account_id, email) do update
    set hash = excluded.hash, role = excluded.role, name = excluded.name, invited_by = excluded.invited_by,
      sent_at = excluded.sent_at, expires_at = excluded.expires_at, withdrawn_at = null
    where i.sent_at <= excluded.sent_at - ${resendIntervalMinutes} * interval '1 minute'
    returning 1`;
}

/** Changes an open invitation; the mailed link stays valid, since its page shows the current details. */
export async function changeInvitation(
  transaction: Kysely,
  accountId: AccountId,
  email: string,
  { role, name }: { readonly role: Role; readonly name: string | undefined },
): Promise<void> {
  await run(transaction)`
    update invitation set role = ${role}, name = coalesce(${name ?? null}, name)
    where account_id = ${accountId} and email = ${email}`;
}

/** @returns false if there was no open one */
export function withdrawInvitation(
  transaction: Kysely,
  accountId: AccountId,
  email: string,
): Promise<boolean> {
  return hasRow(transaction)`
    update invitation set withdrawn_at = now()
    where account_id = ${accountId} and email = ${email} and withdrawn_at is null returning 1`;
}

/** A valid invitation, and the person its address belongs to. */
export interface OpenInvitation {
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly email: string;
  readonly role: Role;
  readonly name: string | null;
  readonly inviterName: string;
  readonly inviterEmail: string;
  /** Null: there is no person with this address yet. */
  readonly personId: PersonId | null;
  /** The person has a password and followed a mailed link before, so the sign-in is certainly their own. */
  readonly established: boolean;
  readonly hasSecondFactor: boolean;
}

/** The open invitation of a link. It ends if the inviter no longer owns the account or is disabled. */
export function findInvitation(kysely: Kysely, hash: Buffer): Promise<OpenInvitation | undefined> {
  return firstRow<OpenInvitation>(kysely)`
    select i.account_id as "accountId", a.name as "accountName", i.email, i.role, i.name,
      w.name as "inviterName", w.email as "inviterEmail", p.id as "personId",
      coalesce(p.password_hash is not null and p.proven_at is not null, false) as established,
      ${hasSecondFactor(sql.ref('p.id'))} as "hasSecondFactor"
    from invitation i
    join account a on a.id = i.account_id
    join person w on w.id = i.invited_by and w.disabled_at is null
    join membership m on m.account_id = i.account_id and m.person_id = w.id and m.role = 'owner'
    left join person p on p.email = i.email
    where i.hash = ${hash} and i.withdrawn_at is null and p.disabled_at is null
      and i.expires_at > now()`;
}

/** Consumes the link of an invitation; of two concurrent uses, one gets true. */
export function consumeInvitation(transaction: Kysely, hash: Buffer): Promise<boolean> {
  return hasRow(transaction)`
    delete from invitation where hash = ${hash} and withdrawn_at is null returning 1`;
}

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
  kysely: Kysely,
  accountId: AccountId,
  filter: { readonly email?: string; readonly after?: string; readonly limit?: number } = {},
): Promise<MemberFacts[]> {
  const { email = null, after = '', limit = 1 } = filter;
  const rows = await allRows<MemberRow>(kysely)`
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
    order by email limit ${limit}`;
  return rows.map(({ invitedBy, expiresAt, ...facts }) => ({
    ...facts,
    invitation: invitedBy === null || expiresAt === null ? null : { invitedBy, expiresAt },
  }));
}
