import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId, MessageId, TemplateId } from '../../base/values/ids.ts';
import { minIdAt } from '../../base/values/uuid7.ts';
import type { StoredContent } from '../../content/message/message-content.ts';
import type { MessageState } from '../../content/message/message-state.ts';
import { recentFrom } from '../../outcomes/report/find-messages-store.ts';

/** A message as a list shows it. */
export interface SentRow {
  readonly id: MessageId;
  readonly acceptedAt: Date;
  readonly state: MessageState;
  readonly templateId: TemplateId;
  readonly templateVersion: number;
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
    select id, accepted_at as "acceptedAt", state, template_id as "templateId", template_version as "templateVersion",
      content
    from message
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
