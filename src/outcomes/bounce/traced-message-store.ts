import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { accountsWithTag, traceContext } from '../../content/message/message-sql.ts';
import type { FeedbackEvent } from './feedback-event-store.ts';

/** What a report says about its message. */
type ReportedMessage = Pick<FeedbackEvent, 'messageId' | 'accountTag'>;

/** A message whose acceptance was traced. */
export interface TracedMessage {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  readonly trace: unknown;
}

/** Those of the messages that were traced. The report of a relay has only the message ID, so each account is searched. */
export async function readTracedMessages(
  kysely: Kysely,
  messages: readonly ReportedMessage[],
): Promise<TracedMessage[]> {
  return await allRows<TracedMessage>(kysely)`
    select m.account_id as "accountId", m.id as "messageId", m.trace
    from unnest(${messages.map(({ messageId }) => messageId)}::uuid[],
      ${messages.map(({ accountTag }) => accountTag?.toString('hex') ?? null)}::text[]) as i (id, account_tag)
    cross join lateral (${sql.raw(accountsWithTag('i.account_tag'))}) as a
    cross join lateral (
      select account_id, id, ${sql.raw(traceContext('m'))} as trace from message m
      where m.account_id = a.id and m.id = i.id limit 1) as m
    where m.trace is not null`;
}
