import { sql } from 'kysely';
import type { Kysely } from '../../../base/database/open-database.ts';
import { allRows } from '../../../base/database/statements.ts';
import type { AccountId } from '../../../base/values/ids.ts';
import { toDomain } from '../../../content/message/message-sql.ts';
import { scheduledReason } from '../../../content/message/scheduled-class.ts';

/** Queued mail of an account to one domain. */
interface WaitingDestination {
  readonly destination: string;
  readonly waiting: number;
  /** How many of these are held for review. */
  readonly held: number;
  /** How many of these wait for their send time. */
  readonly scheduled: number;
  readonly nextAttemptAt: Date | null;
  /** Most common reason for waiting; null if most are simply queued. */
  readonly reason: string | null;
}

/** When an account's mail to a destination (`*` for all) was paused; undefined if it isn't. */
export async function readPausedAt(
  kysely: Kysely,
  accountId: AccountId,
  destination: string,
): Promise<Date | undefined> {
  const row = await kysely
    .selectFrom('delivery_pause')
    .select('paused_at')
    .where('account_id', '=', accountId)
    .where('destination', '=', destination)
    .executeTakeFirst();
  return row?.paused_at;
}

/** Max queued deliveries to count, oldest first. */
const maxDeliveries = 10_000;

/** Waiting messages by To domain, largest first, without those whose content was erased. */
export async function readWaitingDestinations(
  kysely: Kysely,
  accountId: AccountId,
): Promise<{ destinations: WaitingDestination[]; partial: boolean }> {
  // Messages that are simply queued have no reason; without coalesce, mode() would ignore them.
  const rows = await allRows<WaitingDestination & { counted: number }>(kysely)`
    select ${sql.raw(toDomain('m'))} as destination, count(distinct m.id)::int as waiting,
      (count(distinct m.id) filter (where q.due_at = 'infinity'))::int as held,
      (count(distinct m.id) filter (where q.reason = ${scheduledReason}))::int as scheduled,
      min(q.due_at) filter (where q.due_at < 'infinity') as "nextAttemptAt",
      nullif(mode() within group (order by coalesce(q.reason, '')), '') as reason,
      (sum(count(*)) over ())::int as counted
    from (
      select * from queued_delivery where account_id = ${accountId} order by message_id limit ${maxDeliveries}) q
    join message m on m.account_id = ${accountId} and m.id = q.message_id and m.retention_days = q.retention_days
    group by 1 order by 2 desc, 1 limit 200`;
  const destinations = rows
    .filter(({ destination }) => destination !== null)
    .map(({ counted, ...waiting }) => waiting);
  return { destinations, partial: (rows[0]?.counted ?? 0) >= maxDeliveries };
}
