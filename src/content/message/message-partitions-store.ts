import type pg from 'pg';
import { awaitSessionLock, releaseSessionLock } from '../../base/database/advisory-locks.ts';
import { readDatabaseClock } from '../../base/database/database-time-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import { codeOf } from '../../base/database/sqlstate.ts';
import type { Log } from '../../base/values/log.ts';
import { minIdAt } from '../../base/values/uuid7.ts';

/** Retention classes, in days. */
export const retentionClasses = [30, 90, 400] as const;
const defaultClass = 90;
/** The tables partitioned by them. Messages come first: the rows of the others refer to them. */
export const partitionedTables = [
  'message',
  'message_event',
  'message_search',
  'message_attribute',
  'message_attachment',
] as const;

const weekMs = 7 * 24 * 60 * 60 * 1000;
/** The epoch, Thursday, 1 January 1970, is in the week of Monday, 29 December 1969. */
const firstMonday = -3 * 24 * 60 * 60 * 1000;
/** How long another process may create partitions before this one leaves it to the next run. */
const lockTimeoutMs = 10_000;
/** Weeks to create in advance. */
const weeksAhead = 2;

interface Range {
  /** The date of the week's Monday, as in `message_90_20261116`. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

export interface PartitionDependencies {
  readonly database: Pick<Database, 'pool'>;
  readonly log: Log;
}

/**
 * Creates the partitions of messages and their events for this week and the next ones, by retention class. A partition holds
 * the IDs (UUID v7) of one week, so expired data is removed by dropping tables. Only classes in use get partitions, because
 * a search plans and opens each of them; messages of a new class go to its default partition until the next run.
 * @param week any time in the first week; by default, the database's current time
 */
export async function ensureMessagePartitions(
  dependencies: PartitionDependencies,
  week?: Date,
): Promise<void> {
  const client = await dependencies.database.pool.connect();
  try {
    if (!(await awaitSessionLock(client, 'messagePartitions', lockTimeoutMs)))
      throw new Error(
        `another process has been creating message partitions for ${lockTimeoutMs / 1_000} seconds`,
      );
    try {
      await client.query("set lock_timeout = '1s'");
      const existing = await listPartitions(client);
      const usedClasses = await classesInUse(client);
      for (const range of rangesFrom(week?.getTime() ?? (await readDatabaseClock(client)))) {
        for (const table of partitionedTables)
          for (const days of usedClasses)
            if (!existing.has(`${table}_${days}_${range.name}`))
              await createPartition(client, table, days, range, dependencies.log);
      }
    } finally {
      await releaseSessionLock(client, 'messagePartitions');
      await client.query('reset lock_timeout');
    }
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function rangesFrom(now: number): Range[] {
  const start = Math.floor((now - firstMonday) / weekMs) * weekMs + firstMonday;
  return Array.from({ length: weeksAhead + 1 }, (_, index) => {
    const from = start + index * weekMs;
    const name = new Date(from).toISOString().slice(0, 10).replaceAll('-', '');
    return { name, from: minIdAt(new Date(from)), to: minIdAt(new Date(from + weekMs)) };
  });
}

/** The classes of existing accounts, plus the default class. */
async function classesInUse(client: pg.PoolClient): Promise<(typeof retentionClasses)[number][]> {
  const { rows } = await client.query<{ days: number }>(
    'select distinct retention_days as days from account',
  );
  return retentionClasses.filter(
    (days) => days === defaultClass || rows.some((row) => row.days === days),
  );
}

async function listPartitions(client: pg.PoolClient): Promise<Set<string>> {
  const { rows } = await client.query<{ relname: string }>(
    `select c.relname from pg_inherits i
     join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relispartition and p.relname = any ($1)`,
    [partitionedTables.flatMap((table) => retentionClasses.map((days) => `${table}_${days}`))],
  );
  return new Set(rows.map((row) => row.relname));
}

const lockNotAvailable = '55P03';

/** Creates a table and then attaches it, so that accepting and delivering never wait long for a lock. */
async function createPartition(
  client: pg.PoolClient,
  table: (typeof partitionedTables)[number],
  days: (typeof retentionClasses)[number],
  range: Range,
  log: Log,
): Promise<void> {
  const parent = `${table}_${days}`;
  const name = `${parent}_${range.name}`;
  const column = table === 'message' ? 'id' : 'message_id';
  await client.query('begin');
  try {
    // If the default partition already has rows of this week, they stay there and the week gets no partition. Names and
    // bounds come from constants and numbers, never from input.
    const occupied = await client.query(
      `select from ${parent}_rest where ${column} >= '${range.from}' and ${column} < '${range.to}' limit 1`,
    );
    if (occupied.rowCount === 0) {
      await client.query(
        `create table ${name} (like ${parent} including all) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)`,
      );
      await client.query(
        `alter table ${parent} attach partition ${name} for values from ('${range.from}') to ('${range.to}')`,
      );
      if (table === 'message') await reduceStatisticsTarget(client, name);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    // Rows have just arrived in the default partition, or a lock is busy; the next run retries.
    if (codeOf(error) !== '23514' && codeOf(error) !== lockNotAvailable) throw error;
    log.warn(
      { err: error, partition: name },
      'could not create a partition; retrying at the next run',
    );
  }
}

/**
 * Messages are found by key, so coarse statistics are enough. By default, `analyze` would sort 30,000 rows by each column
 * every 15 seconds, which takes a quarter of a second of processor time.
 */
async function reduceStatisticsTarget(client: pg.PoolClient, name: string): Promise<void> {
  const { rows } = await client.query<{ targets: string | null }>(
    `select string_agg(format('alter column %I set statistics 10', attname), ', ') as targets
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [name],
  );
  await client.query(`alter table ${name} ${rows[0]?.targets}`);
}
