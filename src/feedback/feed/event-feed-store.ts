import { sql } from 'kysely';
import { endedTransactions } from '../../foundation/database/ended-transactions.ts';
import type { Database } from '../../foundation/database/open-database.ts';

type Kysely = Database['kysely'];

/**
 * A range of transactions from `from` (inclusive) to `until` (exclusive) that have all ended: the `message` and
 * `message_event` rows whose `tx` is in the range are complete and their `tx` no longer changes.
 */
export interface FeedWindow {
  readonly from: string;
  readonly until: string;
  /** Upper bound for its rows of messages and events. */
  readonly rows: number;
  /** It reached the requested limit, so more rows may follow. */
  readonly full: boolean;
  /** Positions that split it into batches of about 100 rows, in order. */
  readonly cuts: readonly string[];
}

/** Rows per batch. */
const pieceRows = 100;

/** Splits a window into consecutive batches. */
export function piecesOf({
  from,
  until,
  cuts,
}: Pick<FeedWindow, 'from' | 'until' | 'cuts'>): Pick<FeedWindow, 'from' | 'until'>[] {
  const inside = cuts.filter((cut) => BigInt(cut) > BigInt(from) && BigInt(cut) < BigInt(until));
  const starts = [from, ...inside];
  return starts.map((start, index) => ({ from: start, until: starts[index + 1] ?? until }));
}

/** True if the follower of a `feed_cursor` row is resting. Setting the clock back ends the rest. */
const isResting = (restMs: number) => sql`
  (feed_cursor.rested_from is not null and now() >= feed_cursor.rested_from
    and now() < feed_cursor.rested_from + ${restMs}::float8 * interval '1 ms')`;

/**
 * True if a rested follower is behind. Reads only the newest rows, whatever the planner estimates.
 * @param rest milliseconds
 */
export async function anyBehind(
  kysely: Kysely,
  names: readonly string[],
  rest: number,
): Promise<boolean> {
  const { rows } = await sql<{ behind: boolean }>`
    with c as (
      select min(coalesce(feed_cursor.tx, '0'::xid8)) as tx
      from unnest(${names}::text[]) as n (name) left join feed_cursor using (name)
      where not ${isResting(rest)})
    select coalesce((select tx from message_event order by tx desc limit 1) >= c.tx, false)
      or coalesce((select tx from message order by tx desc limit 1) >= c.tx, false) as behind
    from c`.execute(kysely);
  return rows[0]?.behind ?? false;
}

/** Creates a follower's cursor at the start of the stored data. */
export async function ensureCursor(kysely: Kysely, name: string): Promise<void> {
  await sql`insert into feed_cursor (name) values (${name}) on conflict do nothing`.execute(kysely);
}

/**
 * Takes the follower's lock for this transaction.
 * @param rest milliseconds
 * @returns its position, or undefined if another node holds the lock or it is resting
 */
export async function lockCursor(
  transaction: Kysely,
  name: string,
  rest = 0,
): Promise<string | undefined> {
  const { rows } = await sql<{ tx: string }>`
    select tx::text from feed_cursor where name = ${name} and not ${isResting(rest)}
    for update skip locked`.execute(transaction);
  return rows[0]?.tx;
}

/** Waits for the follower's lock. */
export async function waitForCursor(transaction: Kysely, name: string): Promise<string> {
  const { rows } = await sql<{ tx: string }>`
    select tx::text from feed_cursor where name = ${name} for update`.execute(transaction);
  return rows[0]?.tx ?? '0';
}

/**
 * The next window from a position, with about `limit` rows. Transactions are never split.
 * @returns undefined if nothing has ended since
 */
export async function nextWindow(
  transaction: Kysely,
  from: string,
  limit: number,
): Promise<FeedWindow | undefined> {
  const { rows } = await sql<{
    until: string | null;
    rows: number;
    full: boolean;
    cuts: string[];
    end: string;
  }>`
    with ${endedTransactions},
    found as (
      select tx, row_number() over (order by tx) as place from (
        (select tx from message_event where tx >= ${from}::xid8 and tx < (select tx from bound)
         order by tx limit ${limit})
        union all
        (select tx from message where tx >= ${from}::xid8 and tx < (select tx from bound)
         order by tx limit ${limit})) as either
      order by tx limit ${limit})
    select (max(tx)::text::numeric + 1)::text as until, count(*)::int as rows, count(*) = ${limit} as full,
      coalesce(array_agg(distinct tx order by tx) filter (where place % ${pieceRows} = 0), '{}')::text[] as cuts,
      (select tx::text from bound) as end
    from found`.execute(transaction);
  const [row] = rows;
  if (row?.until == null) return undefined;
  const { full, cuts } = row;
  return { from, until: full ? row.until : row.end, rows: row.rows, full, cuts };
}

/** Marks everything up to a window's end as done. */
export async function moveCursor(
  transaction: Kysely,
  name: string,
  { until, full }: Pick<FeedWindow, 'until' | 'full'>,
): Promise<void> {
  await sql`
    update feed_cursor
    set tx = ${until}::xid8, rested_from = case when ${full}::boolean then null else clock_timestamp() end
    where name = ${name}`.execute(transaction);
}

/**
 * Repairs cursors after a restore into another server, whose transaction IDs may be lower: followers ahead of every
 * transaction would wait forever. Rows already followed get `tx` 1, the others a new one.
 */
export async function repairRestoredCursors(kysely: Kysely): Promise<boolean> {
  const { rows } = await sql<{ ahead: boolean }>`
    select coalesce(max(tx) > pg_snapshot_xmax(pg_current_snapshot()), false) as ahead
    from feed_cursor`.execute(kysely);
  if (rows[0]?.ahead !== true) return false;
  await kysely.transaction().execute(async (transaction) => {
    await sql`select from feed_cursor order by name for update`.execute(transaction);
    for (const table of ['message', 'message_event']) {
      await sql`
        update ${sql.table(table)} set tx = case when tx < (select min(tx) from feed_cursor)
          then '1'::xid8 else pg_current_xact_id() end`.execute(transaction);
    }
    await sql`update feed_cursor set tx = pg_current_xact_id()`.execute(transaction);
  });
  return true;
}
