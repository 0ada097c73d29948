import { createHash, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, countChanged, firstRow, run } from '../../base/database/statements.ts';
import { auditIdOf, hashAddress } from '../../base/secrets/hash-address.ts';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { type AccountId, newId } from '../../base/values/ids.ts';
import { storeContents } from '../../content/message/attachment-store.ts';
import {
  erasedAddress,
  maxRecipients,
  type StoredContent,
  visibleCc,
} from '../../content/message/message-content.ts';
import {
  cancelErased,
  ccAddresses,
  suppressedCcAddresses,
  toAddress,
} from '../../content/message/message-sql.ts';
import { describeRawSource, rawTemplateId } from '../../content/message/raw-message.ts';
import { unschedule } from '../../content/message/scheduled-class.ts';
import { cursorOf, waitForCursor } from '../feed/feed-cursor-store.ts';
import { eraseRepliesFrom, eraseRepliesTo } from '../reply/erase-replies-store.ts';
import { exportReplies } from '../reply/export-replies-store.ts';
import {
  cancelWaiting,
  deleteAttributes,
  eraseAttachments,
  eraseTraces,
} from './erase-parts-store.ts';
import { withoutRecipient } from './without-recipient.ts';

/** Writes which people are in a message. */
const searchFollower = 'search';
const subjectFollower = 'subjects';
/** Writes what webhooks send, in processes of 0.2. */
const formerWebhookFollower = 'webhook';
const batchSize = 500;
const pageSize = 200;

export interface PersonRequest {
  readonly accountId: AccountId;
  readonly address: ComparableAddress;
  /** Id of the person who requested it. */
  readonly requestedBy: string;
  /** Hashes addresses in records. */
  readonly hashKey: KeyObject;
}

export interface ErasedCounts {
  readonly messages: number;
  readonly contacts: number;
  readonly suppressions: number;
}

/**
 * Erases an account's data about one address: content of messages to it and of replies to them or from it, its Cc entries,
 * its place in the header of complete messages to others, reader data of their opens and clicks, contacts, saved filters, its
 * name in the audit log of 0.2 and, unless `keepSuppressions` is set, suppressions. Waiting messages to it are canceled; a
 * record of the erasure and the totals remain, without personal data.
 * @param commitWith is committed together with that record
 */
export async function erasePerson(
  kysely: Kysely,
  request: PersonRequest & { readonly keepSuppressions: boolean },
  commitWith?: (transaction: Kysely, erased: ErasedCounts) => Promise<void>,
): Promise<ErasedCounts> {
  const { accountId, address } = request;
  let messages = 0;
  for (;;) {
    const count = await kysely
      .transaction()
      .execute((transaction) => eraseSome(transaction, accountId, address));
    messages += count;
    if (count < batchSize) break;
  }
  await eraseRepliesFrom(kysely, accountId, address);
  return await kysely.transaction().execute(async (transaction) => {
    const contacts = await eraseContacts(transaction, accountId, address);
    const suppressions = request.keepSuppressions
      ? 0
      : await countChanged(transaction)`
          delete from suppression where account_id = ${accountId} and address = ${address}`;
    await run(transaction)`
      update idempotency_key set suppressed_recipients = array(
        select a from unnest(suppressed_recipients) as a where lower(a) <> ${address})
      where account_id = ${accountId} and ${address} = any (select lower(a) from unnest(suppressed_recipients) as a)`;
    await run(transaction)`
      delete from saved_filter where account_id = ${accountId} and exists (
        select from jsonb_each_text(query || jsonb_build_object('name', name)) as member
        where position(${address}::text in lower(member.value)) > 0)`;
    await run(transaction)`
      delete from file_import_rejection where account_id = ${accountId} and exists (
        select from unnest(record) as value where position(${address}::text in lower(value)) > 0)`;
    // Release 0.2 named suppressions by their address.
    await run(transaction)`
      update audit_event set detail = jsonb_set(detail, '{id}', to_jsonb(${auditIdOf(request.hashKey, address)}::text))
      where account_id = ${accountId} and kind in ('suppression_created', 'suppression_changed', 'suppression_removed')
        and lower(detail ->> 'id') = ${address}`;
    const erased = { messages, contacts, suppressions };
    await record(transaction, 'erase', request, erased);
    await commitWith?.(transaction, erased);
    return erased;
  });
}

/**
 * Removes the address from all of the account's lists, locking each list as every change of its contacts does. The list
 * still counts as matching its file, so that applying the same file again doesn't bring the contact back.
 * @returns number of contacts removed
 */
async function eraseContacts(
  transaction: Kysely,
  accountId: AccountId,
  address: ComparableAddress,
): Promise<number> {
  await run(transaction)`
    select from contact_list
    where account_id = ${accountId} and id in (
      select list_id from contact where account_id = ${accountId} and lower(email) = ${address})
    order by id for no key update`;
  const row = await firstRow<{ contacts: number }>(transaction)`
    with erased as (
      delete from contact where account_id = ${accountId} and lower(email) = ${address} returning list_id),
    resized as (
      update contact_list l
      set modified_at = now(), source_size = greatest(0, l.source_size - e.contacts)
      from (select list_id, count(*)::int as contacts from erased group by 1) as e
      where l.account_id = ${accountId} and l.id = e.list_id)
    select count(*)::int as contacts from erased`;
  return row?.contacts ?? 0;
}

async function eraseSome(
  transaction: Kysely,
  accountId: AccountId,
  address: ComparableAddress,
): Promise<number> {
  // A follower that read a message before it was erased could write the person's data afterwards.
  await waitForCursor(transaction, searchFollower, accountId);
  await waitForCursor(transaction, subjectFollower, accountId);
  await waitForCursor(transaction, formerWebhookFollower, accountId);
  await run(transaction)`select from webhook_position where account_id = ${accountId} for update`;
  const rows = await allRows<{ count: number; own: string[]; sources: string[] }>(transaction)`
    with known as materialized (
      select account_id, message_id, retention_days, recipient from message_search
      where account_id = ${accountId} and address = ${address} limit ${batchSize}),
    fresh as materialized (${freshOf(accountId, address)} limit ${batchSize}),
    found as materialized (select * from known union select * from fresh),
    touched as materialized (
      select account_id, message_id, retention_days, bool_or(recipient = 0) as own, array_agg(recipient) as recipients
      from found group by 1, 2, 3),
    own as materialized (select account_id, message_id, retention_days from touched where own),
    waiting as materialized (
      select q.account_id, q.message_id, q.recipient, t.own from queued_delivery q join touched t using (account_id, message_id)
      where t.own or q.recipient = any (t.recipients)
      for update of q),
    ${cancelWaiting('own')},
    ${sql.raw(unschedule('own'))},
    ${eraseAttachments('own')},
    unqueued as (
      update queued_delivery q set ${sql.raw(cancelErased('address'))}
      from waiting w
      where not w.own and q.account_id = w.account_id and q.message_id = w.message_id and q.recipient = w.recipient),
    -- After the deliveries are locked, in the order in which outcomes lock them.
    erased as (
      update message m
      set content = case when f.own or m.content is null then null
        else (m.content::jsonb || ${without('cc', address)} || ${without('suppressedCc', address)})::json end
      from touched f
      where m.account_id = f.account_id and m.id = f.message_id and m.retention_days = f.retention_days
        and (select count(*) from waiting) >= 0),
    searched as (
      update message_search s set address = null
      from touched f
      where s.account_id = f.account_id and s.message_id = f.message_id and s.retention_days = f.retention_days
        and (f.own or s.address = ${address})),
    ${deleteAttributes('own')},
    ${eraseTraces('touched')}
    select count(*)::int as count, array(select message_id::text from own) as own,
      array(
        select distinct encode(a.sha256, 'hex') from own join message_attachment a using (account_id, message_id, retention_days)
        join message m on m.account_id = a.account_id and m.id = a.message_id and m.retention_days = a.retention_days
        where m.template_id = ${rawTemplateId}) as sources
    from found`;
  // A separate statement, so it also sees replies stored while this transaction waited for the messages' rows.
  await eraseRepliesTo(transaction, accountId, rows[0]?.own ?? []);
  for (const source of rows[0]?.sources ?? [])
    await eraseFromSource(transaction, accountId, address, source);
  return rows[0]?.count ?? 0;
}

/** Takes the address out of a complete message that other recipients have, too. Those that wait are sent without it. */
async function eraseFromSource(
  transaction: Kysely,
  accountId: AccountId,
  address: ComparableAddress,
  sha256: string,
): Promise<void> {
  const stored = await firstRow<{ content: Buffer }>(transaction)`
    select content from attachment_content c
    where account_id = ${accountId} and sha256 = decode(${sha256}, 'hex') and exists (
      select from message_attachment a where a.account_id = c.account_id and a.sha256 = c.sha256)`;
  if (stored === undefined) return;
  const content = withoutRecipient(stored.content, address);
  if (content.equals(stored.content)) return;
  const erased = createHash('sha256').update(content).digest('hex');
  await storeContents(transaction, accountId, [{ sha256: erased, content }]);
  const info = JSON.stringify([describeRawSource(erased, content.length)]);
  await run(transaction)`
    with copy as materialized (
      select a.account_id, a.message_id, a.retention_days from message_attachment a
      join message m on m.account_id = a.account_id and m.id = a.message_id and m.retention_days = a.retention_days
      where a.account_id = ${accountId} and a.sha256 = decode(${sha256}, 'hex') and m.template_id = ${rawTemplateId}),
    ${eraseAttachments('copy')},
    linked as (
      insert into message_attachment (account_id, message_id, retention_days, sha256)
      select account_id, message_id, retention_days, decode(${erased}, 'hex') from copy)
    update message m set content = (m.content::jsonb || jsonb_build_object('attachments', ${info}::jsonb))::json
    from copy
    where m.account_id = copy.account_id and m.id = copy.message_id and m.retention_days = copy.retention_days
      and m.content is not null`;
}

/** A person's messages whose search rows aren't written yet. */
function freshOf(accountId: AccountId, address: ComparableAddress) {
  return sql`
    select m.account_id, m.id as message_id, m.retention_days, r.recipient::smallint as recipient
    from message m
    cross join lateral (
      select 0 as recipient, ${sql.raw(toAddress('m'))} as address
      union all
      select c.place, c.address from ${sql.raw(ccAddresses('m'))} with ordinality as c (address, place)
      union all
      select c.place + ${sql.lit(maxRecipients - 1)}, c.address
      from ${sql.raw(suppressedCcAddresses('m'))} with ordinality as c (address, place)) as r
    where m.tx >= coalesce(${cursorOf(searchFollower, accountId)}, '0'::xid8)
      and m.account_id = ${accountId} and lower(r.address) = ${address}`;
}

/** The list with the person's address replaced, so that the others keep their numbers; empty if there is none. */
function without(list: 'cc' | 'suppressedCc', address: ComparableAddress) {
  const member = sql`m.content::jsonb -> ${sql.lit(list)}`;
  return sql`
    case when ${member} is null then '{}'::jsonb else jsonb_build_object(${sql.lit(list)}, (
      select jsonb_agg(case when lower(c.address) = ${address} then ${erasedAddress} else c.address end order by c.place)
      from jsonb_array_elements_text(${member}) with ordinality as c (address, place))) end`;
}

interface ExportedMessage extends Record<string, unknown> {
  readonly message_id: string;
  readonly recipient: number;
  readonly content: StoredContent | null;
}

/** The content as its To recipient may know it. */
function withoutBcc(content: StoredContent): StoredContent {
  const { bccCount, archive: _, ...rest } = content;
  return bccCount === undefined ? rest : { ...rest, cc: visibleCc(content) };
}

/**
 * Exports an account's data about one address: messages with their events, replies, suppressions, contacts. Keeps a record of
 * the export.
 */
export async function* exportPerson(
  kysely: Kysely,
  request: PersonRequest,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const { accountId, address } = request;
  let messages = 0;
  let after = { id: '00000000-0000-0000-0000-000000000000', recipient: 0 };
  for (;;) {
    const rows = await allRows<ExportedMessage>(kysely)`
      with found as materialized (
        (select account_id, message_id, retention_days, recipient from message_search
         where account_id = ${accountId} and address = ${address}
           and (message_id, recipient) > (${after.id}, ${after.recipient}) order by message_id, recipient limit ${pageSize})
        union
        select * from (${freshOf(accountId, address)}) as fresh
        where (message_id, recipient) > (${after.id}, ${after.recipient}))
      select s.message_id, s.recipient, m.template_id, m.template_version, m.state, m.accepted_at, m.external_id, m.tag,
        case when s.recipient = 0 then m.content end as content,
        (select json_agg(json_build_object('at', e.at, 'kind', e.kind, 'detail', e.detail) order by e.at, e.id)
         from message_event e where e.account_id = s.account_id and e.message_id = s.message_id
           and e.retention_days = s.retention_days and (e.recipient is null or e.recipient = s.recipient)) as events
      from found s
      join message m on m.account_id = s.account_id and m.id = s.message_id and m.retention_days = s.retention_days
      order by s.message_id, s.recipient limit ${pageSize}`;
    for (const { message_id: id, content, ...message } of rows) {
      messages += 1;
      after = { id, recipient: message.recipient };
      yield { message: { id, ...message, content: content && withoutBcc(content) } };
    }
    if (rows.length < pageSize) break;
  }
  let replies = 0;
  for await (const reply of exportReplies(kysely, accountId, address)) {
    replies += 1;
    yield { reply };
  }
  const suppressions = await allRows<Record<string, unknown>>(kysely)`
    select reason, message_id, created_at, expires_at from suppression
    where account_id = ${accountId} and address = ${address}`;
  for (const suppression of suppressions) yield { suppression };
  const contacts = await allRows<Record<string, unknown>>(kysely)`
    select list_id, email, fields, created_at from contact
    where account_id = ${accountId} and lower(email) = ${address}`;
  for (const contact of contacts) yield { contact };
  const counts = {
    messages,
    ...(replies > 0 && { replies }),
    suppressions: suppressions.length,
    contacts: contacts.length,
  };
  await record(kysely, 'export', request, counts);
}

async function record(
  kysely: Kysely,
  kind: 'erase' | 'export',
  { accountId, address, requestedBy, hashKey }: PersonRequest,
  counts: object,
): Promise<void> {
  await run(kysely)`
    insert into privacy_record (account_id, id, kind, address_hash, requested_by, counts)
    values (${accountId}, ${newId()}, ${kind}, ${hashAddress(hashKey, address)}, ${requestedBy}, ${JSON.stringify(counts)})`;
}
