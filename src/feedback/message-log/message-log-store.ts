import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import { findWindowEnd } from '../../foundation/log-output/log-cursor-store.ts';
import type { LogWindow } from '../../foundation/log-output/log-tail.ts';
import { recipientAddress, traceContext } from '../../message/message-sql.ts';

type Kysely = Database['kysely'];

/** An event of a message; `accepted` is that of the message itself. */
export interface MessageEventRow {
  readonly at: Date;
  readonly accountId: string;
  readonly messageId: string;
  readonly templateId: string | null;
  readonly kind: string;
  /** Null for the whole message. */
  readonly recipient: number | null;
  readonly attempt: number | null;
  /** Null once erased. */
  readonly address: string | null;
  readonly reply: string | null;
  readonly cause: string | null;
  readonly trace: unknown;
}

/** The end of a window of about `limit` messages and events. */
export function findMessageWindowEnd(
  transaction: Kysely,
  from: string,
  end: string,
  limit: number,
): Promise<string> {
  const first = sql`
    select tx from (
      (select tx from message_event where tx >= ${from}::xid8 and tx < ${end}::xid8 order by tx limit ${limit})
      union all
      (select tx from message where tx >= ${from}::xid8 and tx < ${end}::xid8 order by tx limit ${limit})) as either
    order by tx limit ${limit}`;
  return findWindowEnd(transaction, first, end, limit);
}

/** The messages and events of a window, in commit order. */
export async function readMessageWindow(
  transaction: Kysely,
  { from, until }: LogWindow,
): Promise<MessageEventRow[]> {
  const { rows } = await sql<MessageEventRow>`
    with found as (
      select account_id, id as message_id, retention_days, 'accepted' as kind, null::smallint as recipient, accepted_at as at,
        null::json as detail, tx
      from message where tx >= ${from}::xid8 and tx < ${until}::xid8
      union all
      select account_id, message_id, retention_days, kind, recipient, at, detail, tx
      from message_event where tx >= ${from}::xid8 and tx < ${until}::xid8)
    select f.at, f.account_id as "accountId", f.message_id as "messageId", m.template_id as "templateId", f.kind, f.recipient,
      (f.detail ->> 'attempt')::int as attempt, ${sql.raw(recipientAddress('m', 'f.recipient'))} as address,
      f.detail ->> 'reply' as reply, f.detail ->> 'cause' as cause, ${sql.raw(traceContext('m'))} as trace
    from found f
    left join lateral (
      select template_id, content from message
      where account_id = f.account_id and id = f.message_id and retention_days = f.retention_days
      limit 1) as m on true
    order by f.tx, f.at`.execute(transaction);
  return rows;
}
