import { sql } from 'kysely';

// Parts of `with` lists. Each is given the name of the part that holds account_id, message_id and retention_days of messages.

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
