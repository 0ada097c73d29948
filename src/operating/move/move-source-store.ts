import { sql } from 'kysely';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import type { InstallationMove } from '../../base/secrets/installation-store.ts';
import { moveApplication } from './move-session-store.ts';

/** A move, as both databases record it. */
export interface MoveIdentity {
  readonly moveId: string;
  /** Host and name of the other database. */
  readonly peer: string;
  /** Identifies the installation. */
  readonly origin: string;
}

/** @returns an identifier of the installation: when it was created, and its master key */
export async function readOrigin({ kysely }: Database): Promise<string> {
  const row = await firstRow<{ origin: string }>(kysely)`
    select created_at || ' ' || coalesce(key_fingerprint, '') as origin from installation`;
  return row?.origin ?? '';
}

/** Tables that every process of a service writes: at startup, when it accepts or claims a message, when a follower advances. */
const fencedTables = [
  ['installation', 'update'],
  ['queued_delivery', 'insert or update or delete'],
  ['feed_cursor', 'update'],
] as const;

/** How long statements in progress may keep a lock that the fence needs. */
const fenceTimeout = '10s';

/**
 * Records that the installation moves to another database. From then on, nothing starts here, and processes that run anyway
 * can't accept or send mail.
 * @param record writes the audit entry
 */
export async function beginMove(
  { kysely }: Database,
  { moveId, peer, origin }: MoveIdentity,
  record: (transaction: Kysely) => Promise<void>,
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await run(transaction)`set local lock_timeout = ${sql.lit(fenceTimeout)}`;
    for (const [table, event] of fencedTables)
      await run(transaction)`
        create or replace trigger refuse_moved before ${sql.raw(event)} on ${sql.table(table)}
        for each statement execute function refuse_moved()`;
    await record(transaction);
    await run(transaction)`
      insert into installation_move (move_id, side, peer, origin)
      values (${moveId}, 'source', ${peer}, ${origin})`;
  });
}

/** Lets the installation start in this database again. @returns the move that ended, if there was one */
export async function endMove(
  { kysely }: Database,
  record: (transaction: Kysely, move: InstallationMove) => Promise<void>,
): Promise<InstallationMove | undefined> {
  return await kysely.transaction().execute(async (transaction) => {
    await run(transaction)`set local lock_timeout = ${sql.lit(fenceTimeout)}`;
    const move = await firstRow<InstallationMove>(transaction)`
      delete from installation_move where side = 'source'
      returning move_id as "moveId", side, peer, started_at as "startedAt", finished_at as "finishedAt"`;
    if (move === undefined) return undefined;
    for (const [table] of fencedTables)
      await run(transaction)`drop trigger if exists refuse_moved on ${sql.table(table)}`;
    await record(transaction, move);
    return move;
  });
}

/** Records that everything has arrived in the other database. */
export async function closeSource(
  { kysely }: Database,
  moveId: string,
  record: (transaction: Kysely) => Promise<void>,
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    const { numAffectedRows } = await sql`
      update installation_move set finished_at = now()
      where move_id = ${moveId} and finished_at is null`.execute(transaction);
    if (numAffectedRows === 1n) return await record(transaction);
    const rows = await allRows(
      transaction,
    )`select from installation_move where move_id = ${moveId}`;
    if (rows.length === 0) throw new Error('the move has been canceled');
  });
}

/** A process of the service that uses the database. */
export interface ServiceProcess {
  /** Host and process, or the name of its connection. */
  readonly name: string;
  /** True if a process of the service is connected now. */
  readonly connected: boolean;
  /** When it reported last; null if it doesn't. */
  readonly reportedAt: Date | null;
}

/** Seconds without a report after which a process has ended. */
const reportSeconds = 15;

/**
 * The processes of the service that use the database: those that report to it, under whatever role and name they connect, and
 * connections of commands.
 */
export async function findServiceProcesses({ kysely }: Database): Promise<ServiceProcess[]> {
  return await allRows<ServiceProcess>(kysely)`
    with sessions as (
      select application_name as name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and application_name like 'signalpost%' and application_name <> ${moveApplication}),
    nodes as (
      select name, seen_at from key_node where seen_at > now() - ${reportSeconds}::integer * interval '1 second')
    select name, exists (select from sessions) as connected, seen_at as "reportedAt" from nodes
    union all
    select distinct name, true, null::timestamptz from sessions where not exists (select from nodes)
    order by name`;
}
