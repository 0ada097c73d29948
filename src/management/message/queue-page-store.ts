import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';
import { toDomain } from '../../message/message-sql.ts';

/** Where mail of an account waits to go. */
export interface WaitingDestination {
  readonly destination: string;
  readonly waiting: number;
  /** Of these, those that wait for a person. */
  readonly held: number;
  readonly nextAttemptAt: Date | null;
  /** Why most of them wait; null where most wait for their turn alone. */
  readonly reason: string | null;
}

/** Since when an account's mail to a destination, or all with `*`, is held back; undefined where it is not. */
export async function readPausedAt(
  kysely: Database['kysely'],
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

/** What waits, as far as it is looked at. */
export interface QueueSummary {
  /** The fullest first. */
  readonly destinations: readonly WaitingDestination[];
  /** True where so much waits that the numbers are those of the oldest `mostEntries` messages. */
  readonly partial: boolean;
}

/** Entries looked at, oldest first. */
export const maxQueueEntries = 10_000;

/** What waits, by the domain of To. A message whose content was erased goes nowhere any more. */
export async function readWaitingDestinations(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<QueueSummary> {
  // A message that waits for nothing but its turn has no reason; the mode of its own would leave those out.
  const { rows } = await sql<WaitingDestination & { counted: number }>`
    select ${sql.raw(toDomain('m'))} as destination, count(*)::int as waiting,
      (count(*) filter (where q.due_at = 'infinity'))::int as held,
      min(q.due_at) filter (where q.due_at < 'infinity') as "nextAttemptAt",
      nullif(mode() within group (order by coalesce(q.reason, '')), '') as reason,
      (sum(count(*)) over ())::int as counted
    from (
      select * from queue_entry where account_id = ${accountId} order by message_id limit ${maxQueueEntries}) q
    join message m on m.account_id = ${accountId} and m.id = q.message_id and m.retention_days = q.retention_days
    group by 1 order by 2 desc, 1 limit 200`.execute(kysely);
  const destinations = rows
    .filter(({ destination }) => destination !== null)
    .map(({ counted, ...waiting }) => waiting);
  return { destinations, partial: (rows[0]?.counted ?? 0) >= maxQueueEntries };
}
