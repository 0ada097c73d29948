import { type RawBuilder, sql } from 'kysely';
import { announceChange, changeChannel } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import type { SecurityEvent } from './system-mail.ts';
import { systemMailTopic } from './system-mail-store.ts';

type Kysely = Database['kysely'];

/*
 * Security notices (ASVS 2.2.3, 2.5.5). Each is written in the transaction of the change it reports, so that both are
 * always committed together.
 */

/**
 * Inserts the notices about owners and operators for the security addresses of their accounts. They belong to no person, so they
 * have no link that acts for one.
 * @param people the people that they are about, with `id`, `email` and `operator`
 * @param facts of the notice, as JSON
 */
function noticesToAccounts(people: RawBuilder<unknown>, facts: RawBuilder<unknown>) {
  return sql`
    insert into system_mail (id, kind, to_address, facts)
    select gen_random_uuid(), 'security-notice', a.security_address,
      ${facts} || jsonb_build_object('about', p.email, 'account', a.name, 'accountId', a.id)
    from (${people}) p join membership m on m.person_id = p.id join account a on a.id = m.account_id
    where (m.role = 'owner' or p.operator) and lower(a.security_address) <> p.email`;
}

/** The account's address, unless it is that of an owner, who gets the notice anyway. */
const hasOtherSecurityAddress = sql`a.created_at < now() and a.security_address is not null and lower(a.security_address) <> all (
  select o.email from membership om join person o on o.id = om.person_id where om.account_id = a.id and om.role = 'owner')`;

/** Notifies a person of a change to their own sign-in or operator role. */
export async function notifyPerson(
  transaction: Kysely,
  personId: PersonId,
  event: SecurityEvent,
): Promise<void> {
  await sql`
    insert into system_mail (id, kind, to_address, person_id, facts)
    select gen_random_uuid(), 'security-notice', p.email, p.id, jsonb_build_object('event', ${event}::text)
    from person p where p.id = ${personId}`.execute(transaction);
  await noticesToAccounts(
    sql`select id, email, operator from person where id = ${personId}`,
    sql`jsonb_build_object('event', ${event}::text)`,
  ).execute(transaction);
  await announceChange(transaction, systemMailTopic, '');
}

/** Notifies a member of a change to their own role in an account. */
export async function notifyMember(
  transaction: Kysely,
  accountId: AccountId,
  personId: PersonId,
  event: SecurityEvent,
): Promise<void> {
  await sql`
    insert into system_mail (id, kind, to_address, person_id, facts)
    select gen_random_uuid(), 'security-notice', p.email, p.id,
      jsonb_build_object('event', ${event}::text, 'account', a.name, 'accountId', a.id)
    from person p, account a where p.id = ${personId} and a.id = ${accountId}`.execute(transaction);
  await announceChange(transaction, systemMailTopic, '');
}

/** Notifies an account's existing owners, and its security address, of a change of owners. */
export async function notifyOwners(
  transaction: Kysely,
  accountId: AccountId,
  event: SecurityEvent,
  about: PersonId,
): Promise<void> {
  await sql`
    insert into system_mail (id, kind, to_address, person_id, facts)
    select gen_random_uuid(), 'security-notice', p.email, p.id,
      jsonb_build_object('event', ${event}::text, 'account', a.name, 'accountId', a.id, 'who', w.email)
    from membership m join person p on p.id = m.person_id join account a on a.id = m.account_id
    cross join person w
    where m.account_id = ${accountId} and m.role = 'owner' and m.created_at < now() and p.disabled_at is null
      and w.id = ${about} and p.id <> ${about}`.execute(transaction);
  await sql`
    insert into system_mail (id, kind, to_address, facts)
    select gen_random_uuid(), 'security-notice', a.security_address,
      jsonb_build_object('event', ${event}::text, 'account', a.name, 'accountId', a.id, 'who', w.email)
    from account a cross join person w
    where a.id = ${accountId} and w.id = ${about} and ${hasOtherSecurityAddress}`.execute(
    transaction,
  );
  await announceChange(transaction, systemMailTopic, '');
}

/** Notifies the operators of a new operator, and that person too. Skips people created in this transaction. */
export async function notifyOperators(transaction: Kysely, about: PersonId): Promise<void> {
  await sql`
    insert into system_mail (id, kind, to_address, person_id, facts)
    select gen_random_uuid(), 'security-notice', p.email, p.id, jsonb_build_object(
      'event', case when p.id = w.id then 'you-are-operator' else 'operator-added' end, 'who', w.email)
    from person p cross join person w
    where w.id = ${about} and p.operator and p.disabled_at is null and p.created_at < now()`.execute(
    transaction,
  );
  await announceChange(transaction, systemMailTopic, '');
}

/** An API key that was created or rotated. */
export interface ApiKeyNotice {
  readonly accountId: AccountId;
  readonly keyName: string;
  /** Undefined: created on the command line or with another key. */
  readonly madeBy?: PersonId | undefined;
}

/** Notifies the owners of an account, its security address and the key's creator of an API key. */
export async function notifyOfApiKey(
  transaction: Kysely,
  event: 'api-key-created' | 'api-key-rotated',
  { accountId, keyName, madeBy }: ApiKeyNotice,
): Promise<void> {
  await sql`
    insert into system_mail (id, kind, to_address, person_id, facts)
    select gen_random_uuid(), 'security-notice', p.email, p.id,
      jsonb_build_object('event', ${event}::text, 'account', a.name, 'accountId', a.id, 'keyName', ${keyName}::text,
        'who', coalesce((select w.email from person w where w.id = ${madeBy ?? null}::uuid), ''))
    from membership m join person p on p.id = m.person_id join account a on a.id = m.account_id
    where m.account_id = ${accountId} and p.disabled_at is null
      and (m.role = 'owner' or m.person_id = ${madeBy ?? null}::uuid)
    union all
    select gen_random_uuid(), 'security-notice', a.security_address, null,
      jsonb_build_object('event', ${event}::text, 'account', a.name, 'accountId', a.id, 'keyName', ${keyName}::text,
        'who', coalesce((select w.email from person w where w.id = ${madeBy ?? null}::uuid), ''))
    from account a where a.id = ${accountId} and ${hasOtherSecurityAddress}`.execute(transaction);
  await announceChange(transaction, systemMailTopic, '');
}

/**
 * Notifies the owners of an account, and the address that got its security notices before, that they go elsewhere now.
 * @param old undefined: there was none
 */
export async function notifyOfSecurityAddress(
  transaction: Kysely,
  accountId: AccountId,
  old: string | undefined,
): Promise<void> {
  await sql`
    insert into system_mail (id, kind, to_address, person_id, facts)
    select gen_random_uuid(), 'security-notice', t.address, t.person_id,
      jsonb_build_object('event', 'security-address-changed', 'account', a.name, 'accountId', a.id)
    from account a cross join (
      select p.email as address, p.id as person_id from membership m join person p on p.id = m.person_id
      where m.account_id = ${accountId} and m.role = 'owner' and p.disabled_at is null
      union all select ${old ?? null}::text, null) t
    where a.id = ${accountId} and t.address is not null`.execute(transaction);
  await announceChange(transaction, systemMailTopic, '');
}

/** A browser and its network, as facts of a notice. */
export interface BrowserFacts {
  readonly browser: string;
  readonly address: string;
}

/** Notifies a person of a sign-in with a new browser, and their accounts, unless it is their first sign-in ever. */
export async function notifyOfNewBrowser(
  kysely: Kysely,
  personId: PersonId,
  { browser, address }: BrowserFacts,
): Promise<void> {
  const facts = sql`jsonb_build_object('event', 'new-browser', 'browser', ${browser}::text, 'address', ${address}::text)`;
  const known = sql`select id, email, operator from person where id = ${personId} and signed_in_at is not null`;
  await sql`
    with notice as (
      insert into system_mail (id, kind, to_address, person_id, facts)
      select gen_random_uuid(), 'security-notice', p.email, p.id, ${facts} from (${known}) p
      returning 1),
    for_accounts as (${noticesToAccounts(known, facts)}),
    first as (update person set signed_in_at = now() where id = ${personId} and signed_in_at is null)
    select pg_notify(${changeChannel}, ${`${systemMailTopic}:`}) from notice`.execute(kysely);
}

/**
 * Notifies the person with an address, if there is one, that guesses at their sign-in are being delayed; once a day, so that
 * nobody can flood their inbox.
 */
export async function notifyOfBlockedSignIn(
  kysely: Kysely,
  email: string,
  address: string,
): Promise<void> {
  const facts = sql`jsonb_build_object('event', 'sign-in-blocked', 'address', ${address}::text)`;
  await sql`
    with blocked as (
      update person set sign_in_blocked_at = now()
      where email = ${email} and disabled_at is null
        and (sign_in_blocked_at is null or sign_in_blocked_at < now() - interval '1 day')
      returning id, email, operator),
    notice as (
      insert into system_mail (id, kind, to_address, person_id, facts)
      select gen_random_uuid(), 'security-notice', email, id, ${facts} from blocked returning 1),
    for_accounts as (${noticesToAccounts(sql`select id, email, operator from blocked`, facts)})
    select pg_notify(${changeChannel}, ${`${systemMailTopic}:`}) from notice`.execute(kysely);
}
