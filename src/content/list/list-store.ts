import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import type { AccountId, ListId } from '../../base/values/ids.ts';

/** A contact list without its contacts. */
export interface ContactList {
  readonly id: ListId;
  readonly name: string;
  readonly folderName: string;
  readonly description: string;
  /** Number of contacts. */
  readonly sourceSize: number;
  readonly createdAt: Date;
  readonly modifiedAt: Date;
}

const columns = sql.raw(
  `id, name, folder_name as "folderName", description, source_size as "sourceSize", created_at as "createdAt", modified_at as "modifiedAt"`,
);

/** One page of an account's lists, ordered by id, and the total count. */
export async function readListPage(
  kysely: Kysely,
  accountId: AccountId,
  page: { readonly count: number; readonly offset: number },
): Promise<{ readonly total: number; readonly lists: readonly ContactList[] }> {
  const lists = await allRows<ContactList>(kysely)`
    select ${columns} from contact_list where account_id = ${accountId}
    order by id limit ${page.count} offset ${page.offset}`;
  const counted = await firstRow<{ total: number }>(kysely)`
    select count(*)::int as total from contact_list where account_id = ${accountId}`;
  return { total: counted?.total ?? 0, lists };
}

/** A list as the manifest sees it: `contentHash` identifies the rows of the last full write. */
export interface StoredList extends ContactList {
  readonly contentHash: Buffer | null;
}

/** All lists of an account, ordered by id. */
export async function readLists(kysely: Kysely, accountId: AccountId): Promise<StoredList[]> {
  return await allRows<StoredList>(kysely)`
    select ${columns}, content_hash as "contentHash" from contact_list where account_id = ${accountId}
    order by id`;
}

/** Creates a list or updates its settings. */
export async function saveList(
  transaction: Kysely,
  list: {
    readonly accountId: AccountId;
    readonly id: ListId;
    readonly name: string;
    readonly folderName: string;
    readonly description: string;
  },
): Promise<void> {
  const { accountId, id, name, folderName, description } = list;
  await run(transaction)`
    insert into contact_list (account_id, id, name, folder_name, description)
    values (${accountId}, ${id}, ${name}, ${folderName}, ${description})
    on conflict (account_id, id) do update
    set name = excluded.name, folder_name = excluded.folder_name, description = excluded.description, modified_at = now()`;
}

/** A contact to write. */
export interface NewContact {
  readonly email: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Locks the contacts of a list. Every writer takes this lock first, which keeps the list's size correct and avoids
 * deadlocks.
 */
export async function lockList(
  transaction: Kysely,
  list: { readonly accountId: AccountId; readonly id: ListId },
): Promise<void> {
  // Contacts reference the list; this lock still allows that.
  await run(transaction)`
    select from contact_list where account_id = ${list.accountId} and id = ${list.id} for no key update`;
}

/** Contacts per statement. */
const chunk = 5_000;

/** CSV can't tell an empty value from a missing one, so a difference between the two is not a change. */
const fieldsDiffer = sql`
  contact.fields - array(select key from jsonb_each_text(contact.fields) where value = '')
    is distinct from row.fields - array(select key from jsonb_each_text(row.fields) where value = '')`;

/** True if a list contains all these contacts with these fields. */
export async function hasContacts(
  transaction: Kysely,
  list: { readonly accountId: AccountId; readonly id: ListId },
  contacts: readonly NewContact[],
): Promise<boolean> {
  for (let from = 0; from < contacts.length; from += chunk) {
    const rows = JSON.stringify(contacts.slice(from, from + chunk));
    const missing = await allRows(transaction)`
      select from jsonb_to_recordset(${rows}::jsonb) as row (email text, fields jsonb)
      left join contact on contact.account_id = ${list.accountId} and contact.list_id = ${list.id}
        and contact.email = row.email
      where contact.email is null or ${fieldsDiffer} limit 1`;
    if (missing.length > 0) return false;
  }
  return true;
}

/**
 * Creates or updates contacts of a list. Other contacts stay, unless `only` is set.
 * @param contentHash identifies these rows the next time
 */
export async function saveContacts(
  transaction: Kysely,
  list: { readonly accountId: AccountId; readonly id: ListId },
  contacts: { readonly rows: readonly NewContact[]; readonly contentHash: Buffer },
  only: boolean,
): Promise<void> {
  const { accountId, id } = list;
  await lockList(transaction, list);
  for (let from = 0; from < contacts.rows.length; from += chunk) {
    const rows = JSON.stringify(contacts.rows.slice(from, from + chunk));
    await run(transaction)`
      insert into contact (account_id, list_id, email, fields)
      select ${accountId}, ${id}, row.email, row.fields
      from jsonb_to_recordset(${rows}::jsonb) as row (email text, fields jsonb)
      left join contact on contact.account_id = ${accountId} and contact.list_id = ${id} and contact.email = row.email
      where contact.email is null or ${fieldsDiffer}
      on conflict (account_id, list_id, email) do update set fields = excluded.fields`;
  }
  if (only) {
    const emails = contacts.rows.map(({ email }) => email);
    await run(transaction)`
      delete from contact
      where account_id = ${accountId} and list_id = ${id} and not email = any(${emails}::text[])`;
  }
  await run(transaction)`
    update contact_list set content_hash = ${contacts.contentHash}, modified_at = now(),
      source_size = (select count(*) from contact where account_id = ${accountId} and list_id = ${id})
    where account_id = ${accountId} and id = ${id}`;
}

/** Removes a list with its contacts. */
export async function removeList(
  transaction: Kysely,
  accountId: AccountId,
  listId: ListId,
): Promise<void> {
  await run(transaction)`
    delete from contact_list where account_id = ${accountId} and id = ${listId}`;
}
