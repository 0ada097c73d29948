import { readDatabaseClock } from '../../base/database/database-time-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import { codeOf } from '../../base/database/sqlstate.ts';
import type { Log } from '../../base/values/log.ts';
import { minIdAt } from '../../base/values/uuid7.ts';
import {
  partitionedTables,
  retentionClasses,
} from '../../content/message/message-partitions-store.ts';
import { testClass } from '../../content/message/test-class.ts';

/** Messages come last, so that no row ever refers to a deleted message. */
const tables = partitionedTables.toReversed();
/** Test messages have no weekly partitions. */
const classes = [...retentionClasses, testClass] as const;
const day = 24 * 60 * 60 * 1000;
const week = 7 * day;
const lockNotAvailable = '55P03';

/**
 * Drops weekly partitions whose messages are all past their retention, and deletes equally old rows from default
 * partitions; a partition that can't be locked in time is left for the next run. Their queued deliveries go with them. Age is measured by the database clock,
 * so a node with a wrong clock can't delete new data.
 */
export async function dropOldPartitions(database: Pick<Database, 'pool'>, log: Log): Promise<void> {
  const client = await database.pool.connect();
  try {
    // Queries on the same tables wait behind this lock, and a batch of accepted messages can't wait long.
    await client.query("set lock_timeout = '200ms'");
    const now = await readDatabaseClock(client);
    for (const table of tables) {
      for (const days of classes) {
        const cutoff = new Date(now - days * day);
        for (;;) {
          const { rowCount } = await client.query(
            `delete from ${table}_${days}_rest where ctid = any (array(
               select r.ctid from ${table}_${days}_rest r where ${isOld(table, days)} limit 5000))`,
            [minIdAt(cutoff), cutoff],
          );
          if ((rowCount ?? 0) < 5_000) break;
        }
        for (const name of await oldPartitions(`${table}_${days}`, cutoff.getTime())) {
          try {
            // Safe names from the catalog; another node may have dropped it first.
            await client.query(`drop table if exists ${name}`);
            log.info({ partition: name }, 'dropped an expired partition');
          } catch (error) {
            if (codeOf(error) !== lockNotAvailable) throw error;
          }
        }
      }
    }
    await client.query('reset lock_timeout');
    // What a person has paused or must review waits without an end.
    await client.query(
      `delete from queued_delivery q using unnest($1::int[], $2::uuid[]) as c (days, id)
       where q.retention_days = c.days and q.message_id < c.id and not exists (
         select from message m
         where m.account_id = q.account_id and m.id = q.message_id and m.retention_days = q.retention_days)`,
      [classes, classes.map((days) => minIdAt(new Date(now - days * day)))],
    );
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }

  async function oldPartitions(parent: string, cutoff: number): Promise<string[]> {
    const { rows } = await client.query<{ name: string }>(
      `select c.relname as name from pg_inherits i
       join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
       where p.relname = $1 and c.relname ~ '_[0-9]{8}$'`,
      [parent],
    );
    return rows.map(({ name }) => name).filter((name) => endOf(name) <= cutoff);
  }
}

/** Old rows of a default partition: by id $1, unless the message was accepted after $2 under an id that is too old. */
function isOld(table: (typeof tables)[number], days: (typeof classes)[number]): string {
  if (table === 'message') return 'r.id < $1 and r.accepted_at < $2';
  return `r.message_id < $1 and not exists (
    select from message_${days}_rest m
    where m.account_id = r.account_id and m.id = r.message_id and m.accepted_at >= $2)`;
}

/** The end of the week whose Monday is in the partition's name. */
function endOf(name: string): number {
  const text = name.slice(-8);
  return Date.parse(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`) + week;
}
