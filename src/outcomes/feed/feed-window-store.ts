import { type RawBuilder, sql } from 'kysely';
import { endedTransactions } from '../../base/database/ended-transactions.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow } from '../../base/database/statements.ts';

/** An account's lane is a hash that is the same in every database, because positions move with the rows. */
const laneCount = 8;
/** Lanes are stored as bits. */
export const allLanes = 2 ** laneCount - 1;

/** SQL: the number of an account's lane, from 0. */
const laneOf = (account: RawBuilder<unknown>) => sql`
  get_byte(sha256(${account}::bytea), 0) & ${sql.lit(laneCount - 1)}`;

/** SQL: true if the account is in one of the lanes. */
export const hasLane = (lanes: RawBuilder<unknown>, account: RawBuilder<unknown>) => sql`
  (${lanes} >> (${laneOf(account)})) & 1 = 1`;

/**
 * A range of transactions from `from` (inclusive) to `until` (exclusive) that have all ended: the `message` and
 * `message_event` rows whose `tx` is in the range are complete and their `tx` no longer changes.
 */
export interface FeedWindow {
  readonly from: string;
  readonly until: string;
  /** The lanes of its accounts, as bits. */
  readonly lanes: number;
  /** Upper bound for its rows of messages and events. */
  readonly rows: number;
  /** It reached the requested limit, so more rows may follow. */
  readonly full: boolean;
  /** Positions that split it into batches of about 100 rows, in order. */
  readonly cuts: readonly string[];
}

/** Rows per batch. */
const pieceRows = 100;

/** The rows of a window. */
export type FeedRange = Pick<FeedWindow, 'from' | 'until' | 'lanes'>;

/** Splits a window into consecutive batches. */
export function piecesOf({
  from,
  until,
  lanes,
  cuts,
}: FeedRange & Pick<FeedWindow, 'cuts'>): FeedRange[] {
  const inside = cuts.filter((cut) => BigInt(cut) > BigInt(from) && BigInt(cut) < BigInt(until));
  const starts = [from, ...inside];
  return starts.map((start, index) => ({ from: start, until: starts[index + 1] ?? until, lanes }));
}

/** SQL: true for a window's rows. @param table `message` or `message_event`, or its alias */
export function inWindow({ from, until, lanes }: FeedRange, table: string): RawBuilder<boolean> {
  const tx = sql.raw(`${table}.tx`);
  return sql`${tx} >= ${from}::xid8 and ${tx} < ${until}::xid8${inLanes(lanes, table)}`;
}

/** SQL: another condition, for rows of accounts in the lanes. Empty for all lanes, so that plans are the same as without lanes. */
export function inLanes(lanes: number, table: string): RawBuilder<unknown> {
  if (lanes === allLanes) return sql``;
  return sql` and ${hasLane(sql`${lanes}::integer`, sql.raw(`${table}.account_id`))}`;
}

/** Rows of all lanes to read per wanted row of some lanes. */
const rowsPerFound = laneCount;

/**
 * The next window from a position, with about `limit` rows. Transactions are never split.
 * @param before its latest possible end
 * @returns undefined if nothing has ended since
 */
export async function nextWindow(
  transaction: Kysely,
  { from, lanes }: Pick<FeedWindow, 'from' | 'lanes'>,
  limit: number,
  before?: string,
): Promise<FeedWindow | undefined> {
  const isWhole = lanes === allLanes;
  const scanned = isWhole ? limit : limit * rowsPerFound;
  const first = (table: string) => sql`
    (select tx${isWhole ? sql`` : sql`, account_id`} from ${sql.table(table)}
     where tx >= ${from}::xid8 and tx < (select tx from ending) order by tx limit ${scanned})`;
  const own = isWhole ? sql`` : sql`where true${inLanes(lanes, 'scanned')}`;
  const last = isWhole
    ? sql`max(tx)`
    : sql`case when count(*) = ${limit} then max(tx) else (select max(tx) from scanned) end`;
  const full = isWhole
    ? sql`count(*) = ${limit}`
    : sql`(count(*) = ${limit} or (select count(*) = ${scanned} from scanned))`;
  const row = await firstRow<{
    until: string | null;
    rows: number;
    full: boolean;
    cuts: string[];
    end: string;
  }>(transaction)`
    with ${endedTransactions},
    ending as materialized (
      select least(tx, ${before ?? null}::xid8) as tx from bound),
    scanned as (
      select * from (${first('message_event')} union all ${first('message')}) as either
      order by tx limit ${scanned}),
    found as (
      select tx, row_number() over (order by tx) as place from scanned ${own} order by tx limit ${limit})
    select (${last}::text::numeric + 1)::text as until, count(*)::int as rows, ${full} as full,
      coalesce(array_agg(distinct tx order by tx) filter (where place % ${pieceRows} = 0), '{}')::text[] as cuts,
      (select tx::text from ending) as end
    from found`;
  if (row === undefined) return undefined;
  const { until, end, ...found } = row;
  // Without rows, lanes move on only to join others.
  if (until === null && end !== before) return undefined;
  return { from, until: found.full && until !== null ? until : end, lanes, ...found };
}

/** The rows of each lane in a window; lanes without rows are missing. */
export async function countLaneRows(
  transaction: Kysely,
  window: FeedRange,
): Promise<ReadonlyMap<number, number>> {
  const rows = await allRows<{ lane: number; rows: number }>(transaction)`
    select ${laneOf(sql.raw('account_id'))} as lane, sum(rows)::int as rows
    from (
      select account_id, count(*) as rows from (
        select account_id from message where ${inWindow(window, 'message')}
        union all
        select account_id from message_event where ${inWindow(window, 'message_event')}) as found
      group by 1) as accounts
    group by 1`;
  return new Map(rows.map(({ lane, rows: count }) => [1 << lane, count]));
}
