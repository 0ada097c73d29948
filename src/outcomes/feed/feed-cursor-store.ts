import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, countChanged, firstRow, run } from '../../base/database/statements.ts';
import { countRunningWith } from '../../base/threads/process-store.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { allLanes, type FeedWindow, hasLane } from './feed-window-store.ts';

/** SQL: true for the rows of `feed_cursor` that have the account. */
const hasAccount = (accountId: AccountId) => hasLane(sql.raw('lanes'), sql`${accountId}::text`);

/** True if the follower of a `feed_cursor` row is resting. Setting the clock back ends the rest. */
const isResting = (restMs: RawBuilder<number>) => sql`
  (feed_cursor.rested_from is not null and now() >= feed_cursor.rested_from
    and now() < feed_cursor.rested_from + ${restMs}::float8 * interval '1 ms')`;

/**
 * True if a rested follower is behind. Reads only the newest rows, whatever the planner estimates.
 * @param rests milliseconds of each
 */
export async function anyBehind(
  kysely: Kysely,
  names: readonly string[],
  rests: readonly number[],
): Promise<boolean> {
  const row = await firstRow<{ behind: boolean }>(kysely)`
    with c as (
      select min(coalesce(feed_cursor.tx, '0'::xid8)) as tx
      from unnest(${names}::text[], ${rests}::float8[]) as n (follower, rest) left join feed_cursor using (follower)
      where not ${isResting(sql.raw('n.rest'))})
    select coalesce((select tx from message_event order by tx desc limit 1) >= c.tx, false)
      or coalesce((select tx from message order by tx desc limit 1) >= c.tx, false) as behind
    from c`;
  return row?.behind ?? false;
}

/** Creates a follower's cursor at the start of the stored data, unless it has one. */
export async function ensureCursor(kysely: Kysely, name: string): Promise<void> {
  if (await hasCursor(kysely, name)) return;
  await kysely.transaction().execute(async (transaction) => {
    // Another process may create it and split its lanes meanwhile, and then its name is free again.
    await run(transaction)`lock table feed_cursor in share row exclusive mode`;
    if (await hasCursor(transaction, name)) return;
    await run(transaction)`insert into feed_cursor (name, tx) values (${name}, '0')`;
  });
}

async function hasCursor(kysely: Kysely, name: string): Promise<boolean> {
  const rows = await allRows(kysely)`
    select from feed_cursor where follower = ${name} limit 1`;
  return rows.length > 0;
}

/** How far some lanes of a follower are. */
export interface FeedPosition {
  readonly lanes: number;
  readonly from: string;
  /** Its last window was full. */
  readonly behind: boolean;
  /** The nearest position, as far or farther, of lanes of the follower that can be joined there. */
  readonly next: string | null;
}

/** Which positions to take. */
interface WantedPositions {
  /** Only that of exactly these lanes. */
  readonly only?: number | undefined;
  /** None that has rested for fewer milliseconds. */
  readonly rest?: number;
  /** None with any of these lanes. */
  readonly done?: number;
  /** None of exactly these lanes. */
  readonly waiting?: readonly number[];
}

/**
 * Locks the lanes of a follower that are furthest behind, for this transaction.
 * @returns undefined if other nodes hold the locks or no other is wanted
 */
export async function lockCursor(
  transaction: Kysely,
  name: string,
  wanted: WantedPositions = {},
): Promise<FeedPosition | undefined> {
  const row = await firstRow<FeedPosition>(transaction)`
    select lanes, tx::text as from, rested_from is null as behind, (
      select min(o.tx)::text from feed_cursor o
      where o.follower = feed_cursor.follower and o.lanes <> feed_cursor.lanes and o.tx >= feed_cursor.tx
        and o.rested_from is not null) as next
    from feed_cursor where ${isNext(name, wanted)}
    order by tx limit 1 for update skip locked`;
  return row;
}

const isNext = (
  name: string,
  { only = 0, rest = 0, done = 0, waiting = [] }: WantedPositions,
) => sql`
  follower = ${name} and not ${isResting(sql`${rest}`)} and ${only}::integer in (0, lanes)
  and lanes & ${done}::integer = 0 and lanes <> all (${waiting}::integer[])`;

/**
 * Records that a window begins for the lanes that are furthest behind, until `endWindow`.
 * @param mayBegin says whether lanes may begin another window, by how many they have begun since one ended
 * @returns the lanes, the only ones to lock for this window; undefined as from `lockCursor`
 * @throws {ProcessEnded} if they may not
 */
export async function beginWindow(
  kysely: Kysely,
  name: string,
  wanted: WantedPositions,
  mayBegin: (lanes: number, begun: number) => boolean,
): Promise<number | undefined> {
  const window = await firstRow<{ lanes: number; begun: number }>(kysely)`
    update feed_cursor set begun = least(begun + 1, 1000)
    where name = (
      select name from feed_cursor where ${isNext(name, wanted)} order by tx limit 1 for update skip locked)
    returning lanes, begun`;
  if (window !== undefined && !mayBegin(window.lanes, window.begun))
    throw new ProcessEnded(window.lanes);
  return window?.lanes;
}

/** Records that the process outlived the windows of a follower's lanes. */
export async function endWindow(kysely: Kysely, name: string, lanes: number): Promise<void> {
  await run(kysely)`
    update feed_cursor set begun = 0
    where follower = ${name} and lanes & ${lanes}::integer <> 0 and begun > 0`;
}

/** Windows of these lanes end their process. */
export class ProcessEnded extends Error {
  readonly lanes: number;

  constructor(lanes: number) {
    super('the process ended each time it followed these events');
    this.lanes = lanes;
  }
}

/**
 * Waits for the lock of a follower's lanes that have the account.
 * @returns their position
 */
export async function waitForCursor(
  transaction: Kysely,
  name: string,
  accountId: AccountId,
): Promise<string> {
  const own = sql`follower = ${name} and ${hasAccount(accountId)}`;
  for (;;) {
    const rows = await allRows<{ tx: string }>(transaction)`
      select tx::text from feed_cursor where ${own} for update`;
    if (rows[0] !== undefined) return rows[0].tx;
    // While it waited, the lanes were split or joined.
    const found = await allRows(transaction)`select from feed_cursor where ${own}`;
    if (found.length === 0) return '0';
  }
}

/** Waits until no follower works on the account, and keeps them from it for this transaction. */
export async function waitForAllCursors(transaction: Kysely, accountId: AccountId): Promise<void> {
  const rows = await allRows<{ follower: string }>(transaction)`
    select distinct follower from feed_cursor order by follower`;
  for (const { follower } of rows) await waitForCursor(transaction, follower, accountId);
}

/** SQL for the position of the follower that is furthest behind in an account. */
export const oldestCursorOf = (accountId: AccountId): RawBuilder<string | null> => sql`(
  select min(tx) from feed_cursor where ${hasAccount(accountId)})`;

/** SQL for the position of a follower in an account; null before its first window. */
export function cursorOf(name: string, accountId: AccountId): RawBuilder<string | null> {
  return sql`(
    select tx from feed_cursor where follower = ${name} and ${hasAccount(accountId)})`;
}

/** Marks everything up to a window's end as done. */
export async function moveCursor(
  transaction: Kysely,
  name: string,
  { lanes, until, full }: Pick<FeedWindow, 'lanes' | 'until' | 'full'>,
): Promise<void> {
  const changed = await countChanged(transaction)`
    update feed_cursor
    set tx = ${until}::xid8, rested_from = case when ${full}::boolean then null else clock_timestamp() end
    where follower = ${name} and lanes = ${lanes}`;
  if (changed !== 1) throw new Error(`the position of ${name} is gone`);
}

/** SQL for the name of a row for lanes of a follower. */
const cursorName = (name: string, lanes: RawBuilder<unknown>) => sql`
  (${name}::text || case when ${lanes} = ${sql.lit(allLanes)} then '' else '/' || ${lanes} end)`;

/**
 * Joins locked lanes with the follower's others that have rested at the same position.
 * @returns the lanes together
 */
export async function joinLanes(
  transaction: Kysely,
  name: string,
  { from, lanes }: Pick<FeedPosition, 'from' | 'lanes'>,
): Promise<number> {
  const row = await firstRow<{ lanes: number }>(transaction)`
    with met as (
      select name from feed_cursor
      where follower = ${name} and lanes <> ${lanes} and tx = ${from}::xid8 and rested_from is not null
      for update skip locked),
    joined as (
      delete from feed_cursor where name in (select name from met) returning lanes),
    together as (
      select ${lanes}::integer + sum(lanes)::integer as lanes from joined having count(*) > 0)
    update feed_cursor set name = ${cursorName(name, sql.raw('together.lanes'))}
    from together where follower = ${name} and feed_cursor.lanes = ${lanes}
    returning feed_cursor.lanes`;
  return row?.lanes ?? lanes;
}

/**
 * Gives part of a follower's lanes a position of their own, unless another node holds them or a process of a release without lanes
 * may run.
 * @returns false if it didn't
 */
export async function splitLanes(
  transaction: Kysely,
  name: string,
  lanes: number,
  part: number,
): Promise<boolean> {
  const rows = await allRows(transaction)`
    with held as (
      select name, tx from feed_cursor where follower = ${name} and lanes = ${lanes}
        and (select not atthasdef from pg_attribute where attrelid = 'feed_cursor'::regclass and attname = 'tx')
      for update skip locked),
    others as (
      update feed_cursor set name = ${cursorName(name, sql`${lanes & ~part}::integer`)}, rested_from = null, begun = 0
      from held where feed_cursor.name = held.name
      returning held.tx)
    insert into feed_cursor (name, tx) select ${cursorName(name, sql`${part}::integer`)}, tx from others
    returning name`;
  return rows.length > 0;
}

/** Whether more processes follow events than a follower has positions. */
export async function hasFreeProcess(transaction: Kysely, name: string): Promise<boolean> {
  const row = await firstRow<{ free: boolean }>(transaction)`
    select ${countRunningWith('worker')}
      > (select count(*) from feed_cursor where follower = ${name}) as free`;
  return row?.free === true;
}

/**
 * Repairs cursors after a restore into another server, whose transaction IDs may be lower: followers ahead of every
 * transaction would wait forever. Positions and the rows between them are numbered from 1, below all transactions of a server, so
 * that each follower continues where it was.
 */
export async function repairRestoredCursors(kysely: Kysely): Promise<boolean> {
  const rows = await allRows<{ ahead: boolean }>(kysely)`
    select coalesce(max(tx) > pg_snapshot_xmax(pg_current_snapshot()), false) as ahead
    from feed_cursor`;
  if (rows[0]?.ahead !== true) return false;
  await kysely.transaction().execute(async (transaction) => {
    // Not by row, because lanes may be split meanwhile.
    await run(transaction)`lock table feed_cursor in exclusive mode`;
    const positions = await firstRow<{ all: string[] }>(transaction)`
      select array_agg(distinct tx)::text[] as all from feed_cursor`;
    const passed = sql`(
      select count(*) + 1 from unnest(${positions?.all ?? []}::xid8[]) as p where p <= tx)::text::xid8`;
    for (const table of ['message', 'message_event', 'feed_cursor'])
      await run(transaction)`update ${sql.table(table)} set tx = ${passed}`;
  });
  return true;
}
