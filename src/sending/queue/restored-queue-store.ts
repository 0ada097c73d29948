import { sql } from 'kysely';
import type { Database } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import { scheduledClassOffset, unschedule } from '../../content/message/scheduled-class.ts';
import { insertEvents } from '../../content/message/write-events.ts';

/** Messages of an account that a restore has held or canceled. */
export interface RestoredMessages {
  readonly account: string;
  readonly messages: number;
}

const restoredReason =
  'the database was restored from a backup; the message may have been sent since';

/** Without those whose send time is still ahead, which can't have been sent unless they were moved since. */
const chosen = `
  moment as materialized (select now() as now),
  chosen as materialized (
    select q.account_id, q.message_id, q.recipient, q.retention_days
    from queued_delivery q cross join moment
    where not q.canceled and not (q.retention_days > ${scheduledClassOffset} and coalesce((
      select s.send_at > moment.now from scheduled_message s
      where s.account_id = q.account_id and s.message_id = q.message_id), false)))`;

/** Changes all messages that were queued at the time of a backup, in one statement. */
async function changeRestored(
  { kysely }: Database,
  set: string,
  parts: string,
  event: Omit<Parameters<typeof insertEvents>[0], 'of'>,
): Promise<RestoredMessages[]> {
  return await allRows<RestoredMessages>(kysely)`
    ${sql.raw(`with ${chosen},
    changed as (
      update queued_delivery q set lease_owner = null, stage = null, ${set}
      from chosen, moment
      where q.account_id = chosen.account_id and q.message_id = chosen.message_id and q.recipient = chosen.recipient),
    ${parts},
    recorded as (
      ${insertEvents({ of: 'about', ...event })}
      from (select distinct account_id, message_id, retention_days, ${event.recipient ?? 'null'} from chosen) as about)
    select account_id as account, count(distinct message_id)::int as messages from chosen group by 1 order by 1`)}`;
}

/**
 * Holds all messages that were queued at the time of a backup for review, since they may have been sent after it. Only for
 * a database that no worker uses.
 */
export function holdRestoredMessages(database: Database): Promise<RestoredMessages[]> {
  return changeRestored(
    database,
    `held = true, due_at = 'infinity', reason = '${restoredReason}'`,
    `marked as (
      update message m set state = 'uncertain', state_at = moment.now
      from chosen, moment
      where chosen.recipient = 0 and m.account_id = chosen.account_id and m.id = chosen.message_id
        and m.retention_days = chosen.retention_days)`,
    {
      kind: 'uncertain',
      recipient: 'recipient',
      detail: `json_build_object('by', 'restore', 'reason', '${restoredReason}')`,
    },
  );
}

/**
 * Cancels all messages that were queued at the time of a backup; workers finish that. Only for a database that no worker
 * uses.
 */
export function cancelRestoredMessages(database: Database): Promise<RestoredMessages[]> {
  return changeRestored(
    database,
    `canceled = true, paused = false, held = false, due_at = moment.now, reason = 'canceled by a restore'`,
    unschedule('chosen'),
    { kind: 'cancel-asked', detail: `'{"by": "restore"}'` },
  );
}
