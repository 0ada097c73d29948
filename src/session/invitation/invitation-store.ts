import { sql } from 'kysely';
import type { Role } from '../../account/account.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../../foundation/ids.ts';

type Kysely = Database['kysely'];

/** Days that an invitation can be accepted. */
export const invitationDays = 7;
/** Minutes between two mails for one invitation. */
const resendIntervalMinutes = 2;
/** Invitations that an account mails in a day: nobody's mailbox, and nobody's name for mail, is for filling. */
export const maxInvitationsPerDay = 100;
/** Of these to one address. */
export const maxInvitationsPerAddressPerDay = 5;

export interface NewInvitation {
  readonly accountId: AccountId;
  /** In lower case. */
  readonly email: string;
  readonly role: Role;
  readonly name: string | undefined;
  readonly invitedBy: PersonId;
}

/**
 * Writes an invitation in place of an earlier one of the same address, whose link ends.
 * @returns false where the earlier one was mailed a moment ago; then nothing is stored
 */
export async function saveInvitation(
  transaction: Kysely,
  { accountId, email, role, name, invitedBy }: NewInvitation,
  hash: Buffer,
): Promise<boolean> {
  const { rows } = await sql`
    with moment as (select now() as now)
    insert into invitation as i (account_id, email, hash, role, name, invited_by, sent_at, expires_at)
    select ${accountId}, ${email}, ${hash}, ${role}, ${name ?? null}, ${invitedBy}, now,
      now + ${invitationDays} * interval '1 day' from moment
    on conflict (account_id, email) do update
    set hash = excluded.hash, role = excluded.role, name = excluded.name, invited_by = excluded.invited_by,
      sent_at = excluded.sent_at, expires_at = excluded.expires_at, withdrawn_at = null
    where i.sent_at <= excluded.sent_at - ${resendIntervalMinutes} * interval '1 minute'
    returning 1`.execute(transaction);
  return rows.length === 1;
}

/** Changes what an open invitation is for; the mail that was sent stays good, since its page says what there is now. */
export async function changeInvitation(
  transaction: Kysely,
  accountId: AccountId,
  email: string,
  { role, name }: { readonly role: Role; readonly name: string | undefined },
): Promise<void> {
  await sql`
    update invitation set role = ${role}, name = coalesce(${name ?? null}, name)
    where account_id = ${accountId} and email = ${email}`.execute(transaction);
}

/** Invitations that an account mailed in the last day: to everybody, and to one address. */
export interface MailedInvitations {
  readonly all: number;
  readonly toAddress: number;
}

/**
 * Counts mails by the audit log: an invitation that is mailed again, or is answered and written anew, is one row but many
 * mails.
 */
export async function countInvitations(
  kysely: Kysely,
  accountId: AccountId,
  email: string,
): Promise<MailedInvitations> {
  const { rows } = await sql<MailedInvitations>`
    select count(*)::int as "all", count(*) filter (where detail ->> 'id' = ${email})::int as "toAddress"
    from audit_event
    where account_id = ${accountId} and kind = 'invitation_sent'
      and at > now() - interval '1 day'`.execute(kysely);
  return rows[0] ?? { all: 0, toAddress: 0 };
}

/** @returns false where there was no open one */
export async function withdrawInvitation(
  transaction: Kysely,
  accountId: AccountId,
  email: string,
): Promise<boolean> {
  const { rows } = await sql`
    update invitation set withdrawn_at = now()
    where account_id = ${accountId} and email = ${email} and withdrawn_at is null returning 1`.execute(
    transaction,
  );
  return rows.length === 1;
}

/** An invitation that can be accepted, and whom its address belongs to. */
export interface OpenInvitation {
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly email: string;
  readonly role: Role;
  readonly name: string | null;
  readonly inviterName: string;
  readonly inviterEmail: string;
  /** Null: nobody has a sign-in with this address yet. */
  readonly personId: PersonId | null;
  /** The person has a password and followed a mailed link before, so that it is their own. */
  readonly established: boolean;
  readonly hasSecondFactor: boolean;
}

/** The open invitation of a link. One ends with its inviter: who no longer owns the account, or is disabled, invites nobody. */
export async function findInvitation(
  kysely: Kysely,
  hash: Buffer,
): Promise<OpenInvitation | undefined> {
  const { rows } = await sql<OpenInvitation>`
    select i.account_id as "accountId", a.name as "accountName", i.email, i.role, i.name,
      w.name as "inviterName", w.email as "inviterEmail", p.id as "personId",
      coalesce(p.password_hash is not null and p.proven_at is not null, false) as established,
      exists (select from second_factor f where f.person_id = p.id and f.confirmed_at is not null) as "hasSecondFactor"
    from invitation i
    join account a on a.id = i.account_id
    join person w on w.id = i.invited_by and w.disabled_at is null
    join membership m on m.account_id = i.account_id and m.person_id = w.id and m.role = 'owner'
    left join person p on p.email = i.email
    where i.hash = ${hash} and i.withdrawn_at is null and p.disabled_at is null
      and i.expires_at > now()`.execute(kysely);
  return rows[0];
}

/** Spends the link of an invitation; of two uses at the same instant one gets true. */
export async function consumeInvitation(transaction: Kysely, hash: Buffer): Promise<boolean> {
  const { rows } = await sql`
    delete from invitation where hash = ${hash} and withdrawn_at is null returning 1`.execute(
    transaction,
  );
  return rows.length === 1;
}
