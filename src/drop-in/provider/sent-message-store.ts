import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId, MessageId, TemplateId } from '../../base/values/ids.ts';
import { minIdAt } from '../../base/values/uuid7.ts';
import type { StoredContent } from '../../content/message/message-content.ts';
import type { MessageState } from '../../content/message/message-state.ts';
import type { StoredEvent } from '../../content/message/message-status-store.ts';
import { recentFrom } from '../../outcomes/report/find-messages-store.ts';

/** A message as a list shows it. */
export interface SentRow {
  readonly id: MessageId;
  readonly acceptedAt: Date;
  readonly state: MessageState;
  readonly templateId: TemplateId;
  readonly templateVersion: number;
  readonly tag: string | null;
  readonly trackOpens: boolean;
  readonly trackClicks: boolean;
  readonly retentionDays: number;
  /** Null once erased. */
  readonly content: StoredContent | null;
}

/** Where a page of messages is: those before a message, newest first, or those right after one. */
export interface SentPage {
  readonly before?: MessageId | undefined;
  readonly after?: MessageId | undefined;
  readonly limit: number;
}

/** Messages of an account, newest first. */
export async function readSentPage(
  kysely: Kysely,
  accountId: AccountId,
  { before, after, limit }: SentPage,
): Promise<SentRow[]> {
  if (after !== undefined)
    return (await readRange(kysely, accountId, after, undefined, limit)).reverse();
  const minId = minIdAt(new Date(0));
  const from = recentFrom(minId, before);
  const recent = await readRange(kysely, accountId, from, before, limit, true);
  if (recent.length === limit || from === minId) return recent;
  const older = await readRange(kysely, accountId, minId, from, limit - recent.length, true);
  return [...recent, ...older];
}

const columns = sql.raw(
  `id, accepted_at as "acceptedAt", state, template_id as "templateId", template_version as "templateVersion", tag,
    track_opens as "trackOpens", track_clicks as "trackClicks", retention_days as "retentionDays", content`,
);

/** Messages of an account by their IDs, newest first. */
export function readSent(
  kysely: Kysely,
  accountId: AccountId,
  ids: readonly MessageId[],
): Promise<SentRow[]> {
  return allRows<SentRow>(kysely)`
    select ${columns} from message where account_id = ${accountId} and id = any(${[...ids]}::uuid[]) order by id desc`;
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

/** @param end excluded @param newest from the end; otherwise from the start, which is excluded then */
function readRange(
  kysely: Kysely,
  accountId: AccountId,
  start: string,
  end: string | undefined,
  limit: number,
  newest = false,
): Promise<SentRow[]> {
  const below = end === undefined ? sql`` : sql`and id < ${end}`;
  return allRows<SentRow>(kysely)`
    select ${columns} from message
    where account_id = ${accountId} and ${newest ? sql`id >= ${start}` : sql`id > ${start}`} ${below}
    order by id ${newest ? sql`desc` : sql``} limit ${limit}`;
}

/** The messages that were accepted with this one, which is among them: those with the same source. */
export async function readTogether(
  kysely: Kysely,
  accountId: AccountId,
  sha256: string,
): Promise<MessageId[]> {
  const rows = await allRows<{ message_id: MessageId }>(kysely)`
    select message_id from message_attachment
    where account_id = ${accountId} and sha256 = decode(${sha256}, 'hex')
    order by message_id limit 200`;
  return rows.map(({ message_id }) => message_id);
}
