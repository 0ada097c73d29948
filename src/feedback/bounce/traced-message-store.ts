import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, MessageId } from '../../foundation/ids.ts';
import { traceContext } from '../../message/message-sql.ts';

/** A message whose acceptance was traced. */
export interface TracedMessage {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  readonly trace: unknown;
}

/** Those of the messages that were traced. A report contains only the message ID, so each account is searched. */
export async function readTracedMessages(
  kysely: Database['kysely'],
  messageIds: readonly MessageId[],
): Promise<TracedMessage[]> {
  const { rows } = await sql<TracedMessage>`
    select m.account_id as "accountId", m.id as "messageId", m.trace
    from unnest(${messageIds}::uuid[]) as i (id)
    cross join account a
    cross join lateral (
      select account_id, id, ${sql.raw(traceContext('m'))} as trace from message m
      where m.account_id = a.id and m.id = i.id limit 1) as m
    where m.trace is not null`.execute(kysely);
  return rows;
}
