import { sql } from 'kysely';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { newId, type PersonId } from '../foundation/ids.ts';
import type { Locale, MailFacts, SystemMailKind } from './system-mail.ts';

type Kysely = Database['kysely'];

/** Topic that wakes the workers: a mail of the service itself waits. */
export const systemMailTopic = 'system-mail';

/** A mail of the service itself, in the transaction of what it tells of. */
export interface NewSystemMail {
  /** Names the token of its link (`MailedLinks`); a new one where not given. */
  readonly id?: string;
  readonly kind: SystemMailKind;
  readonly toAddress: string;
  /** Whose language it is written in. */
  readonly personId?: PersonId | undefined;
  readonly facts: MailFacts;
}

/** Leaves a mail for the workers, which have it at commit. */
export async function enqueueSystemMail(transaction: Kysely, mail: NewSystemMail): Promise<void> {
  const { id = newId(), kind, toAddress, personId = null, facts } = mail;
  await sql`
    insert into system_mail (id, kind, to_address, person_id, facts)
    values (${id}, ${kind}, ${toAddress}, ${personId}, ${JSON.stringify(facts)}::jsonb)`.execute(
    transaction,
  );
  await announceChange(transaction, systemMailTopic, id);
}

/** A mail that a worker took on. */
export interface ClaimedSystemMail {
  readonly id: string;
  readonly kind: SystemMailKind;
  readonly toAddress: string;
  readonly facts: MailFacts;
  readonly createdAt: Date;
  readonly name: string | null;
  readonly locale: Locale | null;
}

/**
 * Takes mails that are due; one that is not settled is due again after a while, later each time. Notices come last: somebody
 * waits for a link, and whoever makes and revokes keys by turns must not keep people from their passwords.
 */
export async function claimSystemMail(kysely: Kysely, limit: number): Promise<ClaimedSystemMail[]> {
  const { rows } = await sql<ClaimedSystemMail>`
    with due as (
      select id from system_mail where due_at <= now()
      order by kind = 'security-notice', due_at limit ${limit} for update skip locked)
    update system_mail m
    set attempts = m.attempts + 1,
      due_at = now() + least(30 * power(2, least(m.attempts, 10)), 3600) * interval '1 s'
    from due
    where m.id = due.id
    returning m.id, m.kind, m.to_address as "toAddress", m.facts, m.created_at as "createdAt",
      (select p.name from person p where p.id = m.person_id) as name,
      (select p.locale from person p where p.id = m.person_id) as locale`.execute(kysely);
  return rows;
}

/** Ends a mail's wait. */
export async function settleSystemMail(kysely: Kysely, id: string): Promise<void> {
  await sql`delete from system_mail where id = ${id}`.execute(kysely);
}

/** Forgets everything that waits: there is no address that it could come from. */
export async function dropSystemMail(kysely: Kysely): Promise<void> {
  await sql`delete from system_mail`.execute(kysely);
}
