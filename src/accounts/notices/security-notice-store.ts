import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { firstRow, run } from '../../base/database/statements.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import type { SecurityEvent } from './system-mail.ts';
import { enqueueNotices } from './system-mail-store.ts';

/*
 * Security notices (ASVS 2.2.3, 2.5.5). Each is written in the transaction of the change it reports, so that both are
 * always committed together.
 */

/**
 * The notices about owners and operators for the security addresses of their accounts. They belong to no person, so
 * they have no link that acts for one.
 * @param people the people they are about, with `id`, `email` and `operator`
 * @param facts of the notice, as JSON
 */
function noticesToAccounts(people: RawBuilder<unknown>, facts: RawBuilder<unknown>) {
  return sql`
    select a.security_address as to_address, null::uuid as person_id, a.id as account_id,
      ${facts} || jsonb_build_object('about', p.email) as facts
    from (${people}) p join membership m on m.person_id = p.id join account a on a.id = m.account_id
    where (m.role = 'owner' or p.operator) and lower(a.security_address) <> p.email`;
}

/** SQL: true unless the security address is an owner's, who is notified anyway. */
const hasOtherSecurityAddress = sql`a.created_at < now() and a.security_address is not null and lower(a.security_address) <> all (
  select o.email from membership om join person o on o.id = om.person_id where om.account_id = a.id and om.role = 'owner')`;

/** Notifies a person of a change to their own sign-in or operator role. */
export async function notifyPerson(
  transaction: Kysely,
  personId: PersonId,
  event: SecurityEvent,
): Promise<void> {
  const facts = sql`jsonb_build_object('event', ${event}::text)`;
  const person = sql`select id, email, operator from person where id = ${personId}`;
  await enqueueNotices(transaction, toPersonAndAccounts(person, facts));
}

/** Notifies a member of a change to their own role in an account. */
export async function notifyMember(
  transaction: Kysely,
  accountId: AccountId,
  personId: PersonId,
  event: SecurityEvent,
): Promise<void> {
  await enqueueNotices(
    transaction,
    sql`
      select email as to_address, id as person_id, ${accountId}::text as account_id,
        jsonb_build_object('event', ${event}::text) as facts
      from person where id = ${personId}`,
  );
}

/** Notifies an account's existing owners, and its security address, of a change of owners. */
export async function notifyOwners(
  transaction: Kysely,
  accountId: AccountId,
  event: SecurityEvent,
  about: PersonId,
): Promise<void> {
  const facts = sql`jsonb_build_object('event', ${event}::text, 'who', w.email)`;
  await enqueueNotices(
    transaction,
    sql`
      select p.email as to_address, p.id as person_id, m.account_id, ${facts} as facts
      from membership m join person p on p.id = m.person_id cross join person w
      where m.account_id = ${accountId} and m.role = 'owner' and m.created_at < now() and p.disabled_at is null
        and w.id = ${about} and p.id <> ${about}
      union all
      select a.security_address, null, a.id, ${facts}
      from account a cross join person w
      where a.id = ${accountId} and w.id = ${about} and ${hasOtherSecurityAddress}`,
  );
}

/** Notifies the operators of a new one, and that person too. Skips people created in this transaction. */
export async function notifyOperators(transaction: Kysely, about: PersonId): Promise<void> {
  await enqueueNotices(
    transaction,
    sql`
      select p.email as to_address, p.id as person_id, null as account_id, jsonb_build_object(
        'event', case when p.id = w.id then 'you-are-operator' else 'operator-added' end, 'who', w.email) as facts
      from person p cross join person w
      where w.id = ${about} and p.operator and p.disabled_at is null and p.created_at < now()`,
  );
}

/** An API key that was created or rotated. */
export interface ApiKeyNotice {
  readonly accountId: AccountId;
  readonly keyName: string;
  /** Undefined: created on the command line or with another key. */
  readonly madeBy?: PersonId | undefined;
}

/** Notifies an account's owners, its security address and the key's creator of an API key. */
export async function notifyOfApiKey(
  transaction: Kysely,
  event: 'api-key-created' | 'api-key-rotated',
  { accountId, keyName, madeBy }: ApiKeyNotice,
): Promise<void> {
  const facts = sql`jsonb_build_object('event', ${event}::text, 'keyName', ${keyName}::text,
    'who', coalesce((select w.email from person w where w.id = ${madeBy ?? null}::uuid), ''))`;
  await enqueueNotices(
    transaction,
    sql`
      select p.email as to_address, p.id as person_id, m.account_id, ${facts} as facts
      from membership m join person p on p.id = m.person_id
      where m.account_id = ${accountId} and p.disabled_at is null
        and (m.role = 'owner' or m.person_id = ${madeBy ?? null}::uuid)
      union all
      select a.security_address, null, a.id, ${facts}
      from account a where a.id = ${accountId} and ${hasOtherSecurityAddress}`,
  );
}

/**
 * Notifies the owners of an account, and the address that got its security notices until now, that these or copies of
 * its mail go elsewhere.
 * @param old undefined: there was none
 */
export async function notifyOfAddress(
  transaction: Kysely,
  accountId: AccountId,
  event: 'security-address-changed' | 'archive-address-changed',
  old: string | undefined,
): Promise<void> {
  await enqueueNotices(
    transaction,
    sql`
      select t.to_address, t.person_id, ${accountId}::text as account_id,
        jsonb_build_object('event', ${event}::text) as facts
      from (
        select p.email as to_address, p.id as person_id from membership m join person p on p.id = m.person_id
        where m.account_id = ${accountId} and m.role = 'owner' and p.disabled_at is null
        union all select ${old ?? null}::text, null) t
      where t.to_address is not null`,
  );
}

/** A browser and its IP address, for a notice. */
export interface BrowserFacts {
  readonly browser: string;
  readonly address: string;
}

/** Notifies a person and their accounts of a sign-in with a new browser, unless it is their first sign-in ever. */
export async function notifyOfNewBrowser(
  kysely: Kysely,
  personId: PersonId,
  { browser, address }: BrowserFacts,
): Promise<void> {
  const facts = sql`jsonb_build_object('event', 'new-browser', 'browser', ${browser}::text, 'address', ${address}::text)`;
  const known = sql`select id, email, operator from person where id = ${personId} and signed_in_at is not null`;
  await kysely.transaction().execute(async (transaction) => {
    await enqueueNotices(transaction, toPersonAndAccounts(known, facts));
    await run(
      transaction,
    )`update person set signed_in_at = now() where id = ${personId} and signed_in_at is null`;
  });
}

/**
 * Notifies the person with this address, if any, that guesses at their password or code are delayed; once a day, so that
 * nobody can flood their inbox.
 */
export async function notifyOfBlockedSignIn(
  kysely: Kysely,
  email: string,
  address: string,
): Promise<void> {
  const facts = sql`jsonb_build_object('event', 'sign-in-blocked', 'address', ${address}::text)`;
  await kysely.transaction().execute(async (transaction) => {
    const blocked = await firstRow<{ id: PersonId }>(transaction)`
      update person set sign_in_blocked_at = now()
      where email = ${email} and disabled_at is null
        and (sign_in_blocked_at is null or sign_in_blocked_at < now() - interval '1 day')
      returning id`;
    if (blocked === undefined) return;
    const person = sql`select id, email, operator from person where id = ${blocked.id}`;
    await enqueueNotices(transaction, toPersonAndAccounts(person, facts));
  });
}

/** Notices to people and the security addresses of their accounts. */
function toPersonAndAccounts(people: RawBuilder<unknown>, facts: RawBuilder<unknown>) {
  return sql`
    select p.email as to_address, p.id as person_id, null as account_id, ${facts} as facts from (${people}) p
    union all ${noticesToAccounts(people, facts)}`;
}
