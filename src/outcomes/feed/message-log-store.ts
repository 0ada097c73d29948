import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import { recipientAddress, traceContext } from '../../content/message/message-sql.ts';
import { type FeedRange, inWindow } from './feed-window-store.ts';

const oldest = sql`interval '1 hour'`;

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

/** The messages and events of a window, in commit order. Older ones were missed while nobody followed, and stay out of the log. */
export async function readMessageEvents(
  transaction: Kysely,
  range: FeedRange,
): Promise<MessageEventRow[]> {
  return await allRows<MessageEventRow>(transaction)`
    with found as (
      select account_id, id as message_id, retention_days, 'accepted' as kind, null::smallint as recipient, accepted_at as at,
        null::json as detail, tx
      from message where ${inWindow(range, 'message')} and accepted_at > now() - ${oldest}
      union all
      select account_id, message_id, retention_days, kind, recipient, at, detail, tx
      from message_event where ${inWindow(range, 'message_event')} and at > now() - ${oldest})
    select f.at, f.account_id as "accountId", f.message_id as "messageId", m.template_id as "templateId", f.kind, f.recipient,
      (f.detail ->> 'attempt')::int as attempt, ${sql.raw(recipientAddress('m', 'f.recipient'))} as address,
      f.detail ->> 'reply' as reply, f.detail ->> 'cause' as cause, ${sql.raw(traceContext('m'))} as trace
    from found f
    left join lateral (
      select template_id, content from message
      where account_id = f.account_id and id = f.message_id and retention_days = f.retention_days
      limit 1) as m on true
    order by f.tx, f.at`;
}
