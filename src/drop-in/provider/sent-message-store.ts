import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { minIdAt } from '../../base/values/uuid7.ts';
import type { StoredEvent, StoredMessage } from '../../content/message/message-status-store.ts';
import { messageColumns } from '../../content/message/message-status-store.ts';
import { recentFrom } from '../../outcomes/report/find-messages-store.ts';

/** A message as a list shows it. */
export interface SentRow extends StoredMessage {
  readonly id: MessageId;
}

/** Messages of an account, newest first: those before a message, or those right after one. */
export async function readSentPage(
  kysely: Kysely,
  accountId: AccountId,
  { before, after, limit }: { before?: MessageId; after?: MessageId; limit: number },
): Promise<SentRow[]> {
  const read = (range: RawBuilder<unknown>, max: number, order = sql`desc`) =>
    allRows<SentRow>(kysely)`
      select id, ${sql.raw(messageColumns)} from message
      where account_id = ${accountId} and ${range} order by id ${order} limit ${max}`;
  if (after !== undefined) return (await read(sql`id > ${after}`, limit, sql`asc`)).reverse();
  const from = recentFrom(minIdAt(new Date(0)), before);
  const until = before === undefined ? sql`` : sql`and id < ${before}`;
  const recent = await read(sql`id >= ${from} ${until}`, limit);
  if (recent.length === limit) return recent;
  return [...recent, ...(await read(sql`id < ${from}`, limit - recent.length))];
}

/** Messages of an account by their IDs, newest first. */
export function readSent(
  kysely: Kysely,
  accountId: AccountId,
  ids: readonly MessageId[],
): Promise<SentRow[]> {
  return allRows<SentRow>(kysely)`
    select id, ${sql.raw(messageColumns)} from message
    where account_id = ${accountId} and id = any(${[...ids]}::uuid[]) order by id desc`;
}

/** An event of one of several messages. */
export interface SentEvent extends StoredEvent {
  readonly eventId: string;
  readonly messageId: MessageId;
}

/** The first event of each message that is of one of the kinds; newest messages first. */
export function readFirstEvents(
  kysely: Kysely,
  accountId: AccountId,
  ids: readonly MessageId[],
  kinds: readonly StoredEvent['kind'][],
): Promise<SentEvent[]> {
  return allRows<SentEvent>(kysely)`
    select distinct on (message_id) id as "eventId", message_id as "messageId", at, kind, recipient, detail
    from message_event
    where account_id = ${accountId} and message_id = any(${[...ids]}::uuid[]) and kind = any(${[...kinds]}::text[])
    order by message_id desc, id`;
}

/** The messages that were accepted with this one, which is among them: those with the same source. */
export async function readTogether(
  kysely: Kysely,
  accountId: AccountId,
  sha256: string,
): Promise<MessageId[]> {
  const rows = await allRows<{ id: MessageId }>(kysely)`
    select message_id as id from message_attachment
    where account_id = ${accountId} and sha256 = decode(${sha256}, 'hex')
    order by message_id limit 200`;
  return rows.map(({ id }) => id);
}
