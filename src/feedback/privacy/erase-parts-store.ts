import { sql } from 'kysely';
import { readerEventKinds } from '../../message/event-kinds.ts';
import { kindList } from '../../message/message-sql.ts';

// Parts of `with` lists. Each is given the name of the part that holds account_id, message_id and retention_days of messages.

/** Takes out of a detail what an open or a click tells of a reader's machine. */
const withoutTraces = (table: 'e' | 'w') =>
  sql`(${sql.ref(`${table}.detail`)}::jsonb - 'userAgent' - 'network')::json`;

/** What is set in lines of the webhook log. What still waits is sent without traces, and is not written down. */
export const erasedWebhookColumns = sql`
  detail = ${withoutTraces('w')}, last_request = null, last_answer = null, erased = true`;

/** Opens and clicks of the messages, and what webhooks tell of the messages, lose what is personal. */
export const eraseTraces = (messages: string) => sql`
  traces as (
    update message_event e set detail = ${withoutTraces('e')}
    from ${sql.table(messages)} as f
    where e.account_id = f.account_id and e.message_id = f.message_id and e.retention_days = f.retention_days
      and e.kind in (${sql.raw(kindList(readerEventKinds))})),
  posted as (
    update webhook_delivery w set ${erasedWebhookColumns}
    from ${sql.table(messages)} as f
    where w.account_id = f.account_id and w.message_id = f.message_id)`;

/**
 * Those of the messages that wait are canceled now, for whatever they wait. One that is being sent keeps its lease, and is
 * canceled where it would wait again after that.
 */
export const cancelWaiting = (messages: string) => sql`
  canceled as (
    update queue_entry q
    set canceled = true, paused = false, pending = q.pending || q.held, held = '{}', reason = 'its content is no longer kept',
      due_at = case when q.lease_owner is not null and q.due_at > now() then q.due_at else now() end
    from ${sql.table(messages)} as f
    where q.account_id = f.account_id and q.message_id = f.message_id)`;
