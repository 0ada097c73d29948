import { checkLimits } from '../../accounts/account/account-limit-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run, valuesOf } from '../../base/database/statements.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { AccountId, ListId } from '../../base/values/ids.ts';
import { maxContactColumns } from './contact-limits.ts';
import { lockList } from './list-store.ts';

/** A contact, as shown to people. */
export interface Contact {
  readonly email: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly createdAt: Date;
}

/** Identifies a list of an account. */
export interface ListKey {
  readonly accountId: AccountId;
  readonly listId: ListId;
}

/**
 * Contacts of a list, ordered by address, after the given one.
 * @param prefix prefix of the addresses, in lower case
 */
export async function readContactPage(
  kysely: Kysely,
  { accountId, listId }: ListKey,
  page: { readonly after: string; readonly limit: number; readonly prefix?: string | undefined },
): Promise<Contact[]> {
  const { after, limit, prefix = '' } = page;
  return await allRows<Contact>(kysely)`
    select email, fields, created_at as "createdAt" from contact
    where account_id = ${accountId} and list_id = ${listId} and email > ${after}
      and (${prefix} = '' or (email >= ${prefix} and starts_with(email, ${prefix})))
    order by email limit ${limit}`;
}

/** The contacts of a list have more fields than a file can have columns. */
export class TooManyContactFields extends OperatorError {
  override name = 'TooManyContactFields';

  constructor() {
    super(
      `The contacts of this list have more than ${(maxContactColumns - 1).toLocaleString('en')} different fields, which no file can have. Remove fields that nobody needs`,
    );
  }
}

/** All field names that contacts of a list have. @throws TooManyContactFields */
export async function readFieldNames(
  kysely: Kysely,
  { accountId, listId }: ListKey,
): Promise<string[]> {
  const rows = await allRows<{ name: string }>(kysely)`
    select distinct key as name from contact, jsonb_object_keys(fields) key
    where account_id = ${accountId} and list_id = ${listId} order by 1 limit ${maxContactColumns}`;
  if (rows.length >= maxContactColumns) throw new TooManyContactFields();
  return rows.map(({ name }) => name);
}

export async function readContact(
  kysely: Kysely,
  { accountId, listId }: ListKey,
  email: string,
): Promise<Contact | undefined> {
  const row = await firstRow<Contact>(kysely)`
    select email, fields, created_at as "createdAt" from contact
    where account_id = ${accountId} and list_id = ${listId} and email = ${email}`;
  return row;
}

/** The IDs of the lists that have an address. */
export function findListsOf(
  kysely: Kysely,
  accountId: AccountId,
  email: string,
): Promise<string[]> {
  return valuesOf<string>(kysely)`
    select id from contact_list join contact on contact.account_id = contact_list.account_id and list_id = id
    where contact_list.account_id = ${accountId} and email = ${email}`;
}

/** Inserts or updates contacts and adjusts the list size. @throws AccountLimitReached */
export async function writeContacts(
  transaction: Kysely,
  list: ListKey,
  contacts: readonly Pick<Contact, 'email' | 'fields'>[],
): Promise<void> {
  const { accountId, listId } = list;
  await lockList(transaction, { accountId, id: listId });
  const rows = await allRows<{ fresh: boolean }>(transaction)`
    insert into contact (account_id, list_id, email, fields)
    select ${accountId}, ${listId}, row.email, row.fields
    from jsonb_to_recordset(${JSON.stringify(contacts)}::jsonb) as row (email text, fields jsonb)
    on conflict (account_id, list_id, email) do update set fields = excluded.fields
    where contact.fields is distinct from excluded.fields
    returning xmax = 0 as fresh`;
  const added = rows.filter(({ fresh }) => fresh).length;
  await adjustListSize(transaction, list, added);
  if (added > 0) await checkLimits(transaction, accountId, ['contacts', 'contactsOfList']);
}

/** Removes a contact and adjusts the list size. */
export async function removeContact(
  transaction: Kysely,
  list: ListKey,
  email: string,
): Promise<void> {
  const { accountId, listId } = list;
  await lockList(transaction, { accountId, id: listId });
  await run(transaction)`
    delete from contact where account_id = ${accountId} and list_id = ${listId} and email = ${email}`;
  await adjustListSize(transaction, list, -1);
}

/** Adjusts the list size and clears the content hash, since the list no longer matches the manifest's file. */
async function adjustListSize(
  transaction: Kysely,
  { accountId, listId }: ListKey,
  delta: number,
): Promise<void> {
  await run(transaction)`
    update contact_list
    set content_hash = null, modified_at = now(), source_size = greatest(0, source_size + ${delta}::int)
    where account_id = ${accountId} and id = ${listId}`;
}
