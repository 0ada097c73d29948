import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow } from '../../base/database/statements.ts';
import { storableJson } from '../../base/database/storable-json.ts';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import type { AccountId, MessageId, TemplateId } from '../../base/values/ids.ts';
import { minIdAt } from '../../base/values/uuid7.ts';
import { accountTagSql, receivesReplies } from '../../content/message/message-sql.ts';
import type { NamedMessage } from '../../content/message/reply-address.ts';
import { insertEvents } from '../../content/message/write-events.ts';
import type { ReplyContent } from './reply-content.ts';
import {
  maxHourlyRecipientReplies,
  maxHourlyRecipientReplyBytes,
  maxHourlyReplies,
  maxHourlyReplyBytes,
  maxMessageReplies,
  maxMessageReplyBytes,
} from './reply-limits.ts';

const hourMs = 60 * 60 * 1_000;

/** Why a reply isn't stored: its message doesn't receive any, or has too many, or its recipient or account has. */
export type ReplyVerdict = 'fits' | 'gone' | 'message full' | 'recipient full' | 'account full';

/** The columns count and bytes of an account's replies that match. @param limit rows that are looked at */
function usage(which: ReturnType<typeof sql>, limit: number) {
  return sql`
    select count(*) as replies, coalesce(sum(size), 0) as bytes from (
      select size from message_reply where ${which} limit ${limit}) as counted`;
}

/** The same for the messages to the recipient of a message. */
function recipientUsage(accountId: ReturnType<typeof sql>, messageId: MessageId, since: string) {
  return sql`
    select count(*) as replies, coalesce(sum(size), 0) as bytes from (
      select r.size from message_reply r
      join message m on m.account_id = r.account_id and m.id = r.message_id and m.retention_days = r.retention_days
      where r.account_id = ${accountId} and r.id > ${since}::uuid and lower(m.content ->> 'to') = (
        select lower(o.content ->> 'to') from message o where o.account_id = ${accountId} and o.id = ${messageId})
      limit ${maxHourlyRecipientReplies}) as counted`;
}

function verdictOf(accountId: ReturnType<typeof sql>, messageId: MessageId) {
  const since = minIdAt(new Date(Date.now() - hourMs));
  const ofMessage = usage(
    sql`account_id = ${accountId} and message_id = ${messageId}`,
    maxMessageReplies,
  );
  const ofAccount = usage(sql`account_id = ${accountId} and id > ${since}::uuid`, maxHourlyReplies);
  return sql<ReplyVerdict>`
    case when (select replies >= ${maxMessageReplies} or bytes >= ${maxMessageReplyBytes} from (${ofMessage}) as u)
        then 'message full'
      when (select replies >= ${maxHourlyReplies} or bytes >= ${maxHourlyReplyBytes} from (${ofAccount}) as u)
        then 'account full'
      when (select replies >= ${maxHourlyRecipientReplies} or bytes >= ${maxHourlyRecipientReplyBytes} from (${ofAccount}) as u)
        then case when (
            select replies >= ${maxHourlyRecipientReplies} or bytes >= ${maxHourlyRecipientReplyBytes}
            from (${recipientUsage(accountId, messageId, since)}) as u)
          then 'recipient full' else 'fits' end
      else 'fits' end`;
}

/** The account whose message a reply address identifies, and whether it takes a reply now. */
export interface ReplyTarget {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  readonly verdict: ReplyVerdict;
}

/**
 * Finds the message of a reply address.
 * @returns undefined if it isn't stored anymore, doesn't receive replies, or its texts were erased
 */
export async function findReplyTarget(
  kysely: Kysely,
  { messageId, accountTag }: NamedMessage,
): Promise<ReplyTarget | undefined> {
  const row = await firstRow<ReplyTarget>(kysely)`
    select a.id as "accountId", ${messageId}::text as "messageId", ${verdictOf(sql`a.id`, messageId)} as verdict
    from account a
    where ${sql.raw(accountTagSql('a.id'))} = ${accountTag} and exists (
      select from message m where m.account_id = a.id and m.id = ${messageId} and ${sql.raw(receivesReplies('m'))})
    limit 1`;
  return row;
}

/** What identifies a reply. */
export interface ReplyKey {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  /** The same for every repetition of one mail. */
  readonly fingerprint: Buffer;
}

/** True if the reply is stored already. */
export async function isKnownReply(
  kysely: Kysely,
  { accountId, messageId, fingerprint }: ReplyKey,
): Promise<boolean> {
  const rows = await allRows(kysely)`
    select from message_reply
    where account_id = ${accountId} and message_id = ${messageId} and fingerprint = ${fingerprint}`;
  return rows.length > 0;
}

/** A reply to store. */
export interface NewReply extends ReplyKey {
  /** Also that of its event. */
  readonly id: string;
  /** Bytes of the whole mail. */
  readonly size: number;
  readonly automatic: boolean;
  /** Normalized; undefined if it names none. */
  readonly sender: string | undefined;
  readonly content: ReplyContent;
}

/**
 * Stores a reply with its event, in one commit. Its contents must already be stored. A repeated reply changes nothing.
 * @returns `fits` if it is stored, and whether that is new
 */
export async function storeReply(
  kysely: Kysely,
  reply: NewReply,
): Promise<{ readonly verdict: ReplyVerdict; readonly isNew: boolean }> {
  const { accountId, messageId, content } = reply;
  const hashes = [...new Set(content.parts.map(({ sha256 }) => sha256))];
  const detail = { replyId: reply.id, automatic: reply.automatic };
  // The lock waits for an erasure in progress, and blocks new ones.
  const row = await firstRow<{ verdict: ReplyVerdict; isNew: boolean }>(kysely)`
    with target as materialized (
      select m.account_id, m.id as message_id, m.retention_days from message m
      where m.account_id = ${accountId} and m.id = ${messageId} and ${sql.raw(receivesReplies('m'))}
      for share),
    judged as materialized (
      select t.*, k.known, case when k.known then 'fits' else ${verdictOf(sql`${accountId}`, messageId)} end as verdict
      from target t cross join lateral (
        select exists (
          select from message_reply r
          where r.account_id = ${accountId} and r.message_id = ${messageId} and r.fingerprint = ${reply.fingerprint}) as known
      ) as k),
    written as (
      insert into message_reply (account_id, id, message_id, retention_days, fingerprint, size, automatic, sender, content, hashes)
      select account_id, ${reply.id}::uuid, message_id, retention_days, ${reply.fingerprint}::bytea, ${reply.size}::integer,
        ${reply.automatic}::boolean, ${reply.sender ?? null}::text, ${storableJson(JSON.stringify(content))}::json,
        array(select decode(h, 'hex') from unnest(${hashes}::text[]) as h)
      from judged where verdict = 'fits' and not known
      on conflict do nothing
      returning account_id, id, message_id, retention_days, hashes),
    linked as (
      insert into message_attachment (account_id, message_id, retention_days, sha256)
      select w.account_id, w.message_id, w.retention_days, h from written w cross join unnest(w.hashes) as h
      on conflict do nothing),
    recorded as (
      ${sql.raw(
        insertEvents({ of: 'fresh', id: 'fresh.id', kind: 'replied', detail: 'fresh.detail' }),
      )}
      from (select w.*, ${JSON.stringify(detail)}::json as detail from written w) as fresh)
    select verdict, exists (select from written) as "isNew" from judged`;
  return row ?? { verdict: 'gone', isNew: false };
}

/** A stored reply. */
export interface StoredReply {
  readonly id: string;
  readonly messageId: MessageId;
  readonly receivedAt: Date;
  readonly size: number;
  readonly automatic: boolean;
  /** Null once erased. */
  readonly content: ReplyContent | null;
}

const columns = sql`
  id, message_id as "messageId", received_at as "receivedAt", size, automatic, content`;

/** A reply of an account; undefined if not found. */
export async function readReply(
  kysely: Kysely,
  accountId: AccountId,
  replyId: string,
): Promise<StoredReply | undefined> {
  const row = await firstRow<StoredReply>(kysely)`
    select ${columns} from message_reply where account_id = ${accountId} and id = ${replyId}`;
  return row;
}

/** A reply with what its message was made from; null if the message isn't stored anymore. */
export interface ListedReply extends StoredReply {
  readonly templateId: TemplateId | null;
  readonly templateVersion: number | null;
}

/** Replies of an account, or to one of its messages, or from an address, newest first. */
export async function listReplies(
  kysely: Kysely,
  accountId: AccountId,
  {
    messageId,
    sender,
    before,
    limit,
  }: {
    readonly messageId: string | undefined;
    readonly sender: ComparableAddress | undefined;
    /** ID of the last reply of the previous page. */
    readonly before: string | undefined;
    readonly limit: number;
  },
): Promise<ListedReply[]> {
  return await allRows<ListedReply>(kysely)`
    select r.*, m.template_id as "templateId", m.template_version as "templateVersion"
    from (
      select ${columns}, account_id, retention_days from message_reply
      where account_id = ${accountId} and ${messageId === undefined ? sql`true` : sql`message_id = ${messageId}`}
        and ${sender === undefined ? sql`true` : sql`sender = ${sender}`}
        and ${before === undefined ? sql`true` : sql`id < ${before}`}
      order by id desc limit ${limit}) r
    left join message m on m.account_id = r.account_id and m.id = r."messageId" and m.retention_days = r.retention_days
    order by r.id desc`;
}
