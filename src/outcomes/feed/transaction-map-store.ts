import type pg from 'pg';

/**
 * Transaction IDs mean something only in the server that gave them. For another server, they are renumbered: in the same
 * order, and lower than every transaction that the other server starts from then on.
 *
 * - What a follower has yet to read keeps its transactions exactly, so each one continues where it stopped, and nothing is
 *   read twice or skipped.
 * - What all followers have read keeps its order, with about 100 rows to a number: a later follower, which begins with the
 *   first row, still gets windows of a bounded size, and the other server has to give up few numbers.
 */
const rowsPerNumber = 100;

/** The lowest number, below which no transaction of a server is. */
const firstNumber = 3;

const createMap = `
  create temp table transaction_map as
  with counted as (
    select tx, count(*) as rows from (
      select tx from message union all select tx from message_event) as either
    group by tx),
  placed as (
    select tx, div(sum(rows) over (order by tx) - rows, ${rowsPerNumber}) as hundred,
      tx >= coalesce((select min(tx) from feed_cursor), '0'::xid8) as unread
    from counted),
  firsts as (
    select min(tx) as first from placed group by unread, case when unread then tx end, case when unread then null else hundred end)
  select first, (row_number() over (order by first) + ${firstNumber - 1})::text::xid8 as number from firsts`;

/** SQL for the new number of the transaction of a row. @param column SQL of its transaction ID */
export function mapRowTransaction(column: string): string {
  return `(select number from pg_temp.transaction_map where first <= ${column} order by first desc limit 1)`;
}

/** SQL for the new position of a follower, which has read all transactions below it. @param column SQL of its position */
export function mapFeedPosition(column: string): string {
  return `coalesce((select number from pg_temp.transaction_map where first >= ${column} order by first limit 1),
    (select (max(number)::text::numeric + 1)::text::xid8 from pg_temp.transaction_map), '${firstNumber}'::xid8)`;
}

/**
 * Prepares the session for `mapRowTransaction` and `mapFeedPosition`. The same rows and positions always get the same numbers.
 * @returns a number that is higher than all
 */
export async function createTransactionMap(client: pg.ClientBase): Promise<bigint> {
  await client.query('drop table if exists pg_temp.transaction_map');
  await client.query(createMap);
  await client.query('create unique index on pg_temp.transaction_map (first)');
  await client.query('create index on pg_temp.transaction_map (number)');
  await client.query('analyze pg_temp.transaction_map');
  const { rows } = await client.query<{ next: string }>(
    `select coalesce(max(number)::text::numeric + 1, ${firstNumber})::text as next from pg_temp.transaction_map`,
  );
  return BigInt(rows[0]?.next ?? firstNumber);
}

/** Transaction IDs that one statement gives up; each takes some memory until it ends. */
const skippedAtOnce = 50_000;

/**
 * Makes the server give up transaction IDs until the next one is at least `next`, so that what commits from now on comes after
 * everything that has a lower number. No statement sets the counter, but a subtransaction that writes takes an ID within
 * microseconds.
 */
export async function skipTransactions(client: pg.ClientBase, next: bigint): Promise<void> {
  await client.query('create temp table if not exists skipped_transaction (written boolean)');
  for (;;) {
    const { rows } = await client.query<{ id: string }>('select pg_current_xact_id()::text as id');
    const missing = next - BigInt(rows[0]?.id ?? 0) - 1n;
    if (missing <= 0n) return;
    const count = missing < skippedAtOnce ? Number(missing) : skippedAtOnce;
    await client.query(`do $$
      begin
        for i in 1..${count} loop
          begin
            insert into pg_temp.skipped_transaction values (true);
          exception when division_by_zero then null;
          end;
        end loop;
        truncate pg_temp.skipped_transaction;
      end $$`);
  }
}
