import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, ListId } from '../../foundation/ids.ts';

type Kysely = Database['kysely'];

/** A contact as people see it. */
export interface Contact {
  readonly email: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly createdAt: Date;
}

interface ListName {
  readonly accountId: AccountId;
  readonly listId: ListId;
}

/**
 * Contacts of a list by address, after one.
 * @param prefix how the addresses begin, in lower case
 */
export async function readContactPage(
  kysely: Kysely,
  { accountId, listId }: ListName,
  page: { readonly after: string; readonly limit: number; readonly prefix?: string | undefined },
): Promise<Contact[]> {
  const { after, limit, prefix = '' } = page;
  const { rows } = await sql<Contact>`
    select email, fields, created_at as "createdAt" from contact
    where account_id = ${accountId} and list_id = ${listId} and email > ${after}
      and (${prefix} = '' or (email >= ${prefix} and starts_with(email, ${prefix})))
    order by email limit ${limit}`.execute(kysely);
  return rows;
}

export async function readContact(
  kysely: Kysely,
  { accountId, listId }: ListName,
  email: string,
): Promise<Contact | undefined> {
  const { rows } = await sql<Contact>`
    select email, fields, created_at as "createdAt" from contact
    where account_id = ${accountId} and list_id = ${listId} and email = ${email}`.execute(kysely);
  return rows[0];
}

/**
 * Writes contacts, new or not, without counting the list anew.
 * @returns how many were new
 */
export async function writeContacts(
  kysely: Kysely,
  { accountId, listId }: ListName,
  contacts: readonly Pick<Contact, 'email' | 'fields'>[],
): Promise<number> {
  const { rows } = await sql<{ fresh: boolean }>`
    insert into contact (account_id, list_id, email, fields)
    select ${accountId}, ${listId}, row.email, row.fields
    from jsonb_to_recordset(${JSON.stringify(contacts)}::jsonb) as row (email text, fields jsonb)
    on conflict (account_id, list_id, email) do update set fields = excluded.fields
    where contact.fields is distinct from excluded.fields
    returning xmax = 0 as fresh`.execute(kysely);
  return rows.filter(({ fresh }) => fresh).length;
}

export async function removeContact(
  kysely: Kysely,
  { accountId, listId }: ListName,
  email: string,
): Promise<void> {
  await sql`
    delete from contact where account_id = ${accountId} and list_id = ${listId} and email = ${email}`.execute(
    kysely,
  );
}

/** Notes that a list has so many contacts more; its content is then no longer that of the manifest's file. */
export async function resizeList(
  kysely: Kysely,
  { accountId, listId }: ListName,
  more: number,
): Promise<void> {
  await sql`
    update contact_list
    set content_hash = null, modified_at = now(), source_size = greatest(0, source_size + ${more}::int)
    where account_id = ${accountId} and id = ${listId}`.execute(kysely);
}

/** Counts a list after many of its contacts were changed. */
export async function recountList(kysely: Kysely, { accountId, listId }: ListName): Promise<void> {
  await sql`
    update contact_list set content_hash = null, modified_at = now(),
      source_size = (select count(*) from contact where account_id = ${accountId} and list_id = ${listId})
    where account_id = ${accountId} and id = ${listId}`.execute(kysely);
}
