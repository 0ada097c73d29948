import type pg from 'pg';
import { readDatabaseClock } from '../foundation/database/database-time-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { codeOf } from '../foundation/database/sqlstate.ts';
import type { Log } from '../foundation/log.ts';
import { minIdAt } from '../foundation/uuid7.ts';

/** Retention classes, and the tables with a message's rows and their message id columns. */
const retentionClasses = [30, 90, 400] as const;
const defaultClass = 90;
const tables = ['message', 'message_event', 'message_search'] as const;

const weekMs = 7 * 24 * 60 * 60 * 1000;
/** The Monday of the epoch's week: 29 December 1969. */
const firstMonday = -3 * 24 * 60 * 60 * 1000;
/** Weeks to create ahead of the current one. */
const weeksAhead = 2;

/** Installation-wide lock, so that nodes create partitions one at a time. */
const lockKey = 7_233_480_022;

interface Range {
  /** Named after the week's Monday, as in `message_90_20261116`. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

export interface PartitionDependencies {
  readonly database: Pick<Database, 'pool'>;
  readonly log: Log;
}

/**
 * Creates partitions of messages and events for this week and the next ones, by retention class. A partition holds one
 * week of ids (UUID v7), so expired data is removed by dropping tables. Only classes in use get partitions, since a
 * search plans and opens each; a new class uses its default partition until the next run.
 *
 * Each is created as a table and then attached, which blocks accepting and delivering only for a moment. A week with
 * rows already in the default partition gets no partition. A lock timeout leaves the rest for the next run.
 * @param week any time in the first week; defaults to the current week of the database clock
 */
export async function ensureMessagePartitions(
  dependencies: PartitionDependencies,
  week?: Date,
): Promise<void> {
  const client = await dependencies.database.pool.connect();
  try {
    await client.query("set lock_timeout = '10s'");
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    try {
      await client.query("set lock_timeout = '1s'");
      const existing = await listPartitions(client);
      const usedClasses = await classesInUse(client);
      for (const range of rangesFrom(week?.getTime() ?? (await readDatabaseClock(client)))) {
        for (const table of tables)
          for (const days of usedClasses)
            if (!existing.has(`${table}_${days}_${range.name}`))
              await makePartition(client, table, days, range, dependencies.log);
      }
    } finally {
      await client.query('select pg_advisory_unlock($1)', [lockKey]);
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

/** Retention classes of existing accounts, plus the default class. */
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
    [tables.flatMap((table) => retentionClasses.map((days) => `${table}_${days}`))],
  );
  return new Set(rows.map((row) => row.relname));
}

const lockNotAvailable = '55P03';

async function makePartition(
  client: pg.PoolClient,
  table: (typeof tables)[number],
  days: (typeof retentionClasses)[number],
  range: Range,
  log: Log,
): Promise<void> {
  const parent = `${table}_${days}`;
  const name = `${parent}_${range.name}`;
  const column = table === 'message' ? 'id' : 'message_id';
  await client.query('begin');
  try {
    // Safe to interpolate: names and bounds come from constants and numbers, never from input.
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
    // Rows just arrived in the default partition, or the lock timed out; retry on the next run.
    if (codeOf(error) !== '23514' && codeOf(error) !== lockNotAvailable) throw error;
    log.warn({ err: error, partition: name }, 'a partition could not be made now');
  }
}

/**
 * `analyze` samples 300 rows per unit of the highest statistics target. Messages are found by key, so coarse statistics
 * are enough; the usual 30,000-row sample, sorted by each column every 15 seconds, costs a quarter of a second of CPU.
 */
async function reduceStatisticsTarget(client: pg.PoolClient, name: string): Promise<void> {
  const { rows } = await client.query<{ targets: string | null }>(
    `select string_agg(format('alter column %I set statistics 10', attname), ', ') as targets
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [name],
  );
  await client.query(`alter table ${name} ${rows[0]?.targets}`);
}
