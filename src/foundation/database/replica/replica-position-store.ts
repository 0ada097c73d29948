import type pg from 'pg';

/** A position in the write-ahead log, as PostgreSQL writes it: `16/B374D848`. */
export type WalPosition = string;

/** What a replica must have in common with the primary, and how far the primary is. */
export interface PrimaryState {
  /** Of the cluster, and of the database within it. */
  readonly identity: string;
  /** Counts the promotions. A replica of an earlier one may have what the primary never had. */
  readonly timeline: number;
  /** Everything that a client has seen is before it. */
  readonly position: WalPosition;
}

export interface ReplicaState {
  readonly inRecovery: boolean;
  readonly identity: string;
  /** Of the last checkpoint that it has. */
  readonly timeline: number;
  /** Null if it isn't in recovery. */
  readonly position: WalPosition | null;
}

type Queryable = Pick<pg.Pool, 'query'>;

const identity = `(select system_identifier from pg_control_system()) || ' ' ||
  (select oid from pg_database where datname = current_database())`;

/** @throws Error on a standby, which has no position of its own */
export async function readPrimaryState(primary: Queryable): Promise<PrimaryState> {
  const { rows } = await primary.query<PrimaryState>(
    `select ${identity} as identity,
       ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as timeline,
       pg_current_wal_flush_lsn()::text as position`,
  );
  return only(rows);
}

export async function readReplicaState(replica: Queryable): Promise<ReplicaState> {
  const { rows } = await replica.query<ReplicaState>(
    `select pg_is_in_recovery() as "inRecovery", ${identity} as identity,
       (select timeline_id from pg_control_checkpoint()) as timeline,
       pg_last_wal_replay_lsn()::text as position`,
  );
  return only(rows);
}

/** How far the primary is; everything that it has returned is before that. */
export async function readPrimaryPosition(primary: Queryable): Promise<WalPosition> {
  const { rows } = await primary.query<{ position: WalPosition }>(
    'select pg_current_wal_flush_lsn()::text as position',
  );
  return only(rows).position;
}

/** How far a replica is: it shows everything before that. The start of the log for a server that isn't one. */
export async function readReplicaPosition(replica: Queryable): Promise<WalPosition> {
  const { rows } = await replica.query<{ position: WalPosition | null }>(
    'select pg_last_wal_replay_lsn()::text as position',
  );
  return only(rows).position ?? '0/0';
}

/** Compares positions: negative if the first one is earlier. */
export function comparePositions(first: WalPosition, second: WalPosition): number {
  const difference = toNumber(first) - toNumber(second);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function toNumber(position: WalPosition): bigint {
  const [high = '0', low = '0'] = position.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('the server did not describe itself');
  return row;
}
