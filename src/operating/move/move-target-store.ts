import pg from 'pg';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import { run } from '../../base/database/statements.ts';
import { type MoveCatalog, type MoveTable, nameOfKey } from './move-catalog-store.ts';
import type { MoveIdentity } from './move-source-store.ts';

/** The state of a database that a move could use. */
export type TargetState =
  /** No service has used it. */
  | { readonly kind: 'empty' }
  /** It holds a part of a move. */
  | { readonly kind: 'unfinished'; readonly moveId: string; readonly origin: string }
  /** A service has used it. */
  | { readonly kind: 'occupied' };

/** Reads what is in a database that an installation would move to, whatever release has used it. */
export async function readTargetState(client: pg.ClientBase): Promise<TargetState> {
  const { rows } = await client.query<{ moves: boolean; installed: boolean }>(
    `select to_regclass('installation_move') is not null as moves, to_regclass('installation') is not null as installed`,
  );
  if (rows[0]?.moves === true) {
    const found = await client.query<{ moveId: string; side: string; origin: string }>(
      'select move_id as "moveId", side, origin from installation_move',
    );
    const [move] = found.rows;
    if (move?.side === 'target') return { kind: 'unfinished', ...move };
    if (move !== undefined) return { kind: 'occupied' };
  }
  if (rows[0]?.installed !== true) return { kind: 'empty' };
  return { kind: (await isUsed(client)) ? 'occupied' : 'empty' };
}

/** The first start of a service records its key, before anything else. */
async function isUsed(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ used: boolean }>(
    'select exists (select from installation where key_fingerprint is not null) as used',
  );
  return rows[0]?.used === true;
}

/**
 * Empties a migrated database and records that a move arrives in it, which prevents a service from starting there.
 * @returns false if a service has started there meanwhile; nothing is changed then
 */
export async function beginArrival(
  client: pg.ClientBase,
  { tables, schema }: MoveCatalog,
  { moveId, peer, origin }: MoveIdentity,
): Promise<boolean> {
  await client.query('begin');
  try {
    await client.query('lock table installation in access exclusive mode');
    const arriving = await client.query('select from installation_move');
    if (arriving.rowCount === 0 && (await isUsed(client))) {
      await client.query('rollback');
      return false;
    }
    const names = tables.map(({ key }) => nameOfKey(key, schema));
    await client.query(`truncate ${names.join(', ')}`);
    await client.query('delete from installation_move_progress');
    await client.query('delete from installation_move');
    await client.query(
      `insert into installation_move (move_id, side, peer, origin) values ($1, 'target', $2, $3)`,
      [moveId, peer, origin],
    );
    // A service that checked for a move earlier would otherwise continue to start.
    await client.query(`create or replace trigger refuse_moved before update on installation
      for each statement execute function refuse_moved()`);
    await client.query('commit');
    return true;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/**
 * Creates a partition that the source has, without its indexes, which are built at once when it is attached: that takes a
 * fraction of the time of adding every row to them.
 */
export async function createMovedPartition(
  client: pg.ClientBase,
  { key, partition, options, columns }: MoveTable,
  schema: string,
): Promise<void> {
  if (partition === null) throw new Error(`${key} is not a partition`);
  const settings = options.map((option) => {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(option) ?? [];
    return `${name} = ${pg.escapeLiteral(value)}`;
  });
  const table = nameOfKey(key, schema);
  const targets = columns.flatMap(({ name, statisticsTarget }) =>
    statisticsTarget === null
      ? []
      : [`alter column ${pg.escapeIdentifier(name)} set statistics ${statisticsTarget}`],
  );
  const statements = [
    `create table ${table} (like ${nameOfKey(partition.parent, schema)} including all excluding indexes)${
      settings.length > 0 ? ` with (${settings.join(', ')})` : ''
    }`,
    ...(targets.length > 0 ? [`alter table ${table} ${targets.join(', ')}`] : []),
  ];
  await client.query(statements.join('; '));
}

/** Attaches a partition, which builds its indexes. */
export async function attachMovedPartition(
  client: pg.ClientBase,
  { key, partition }: MoveTable,
  schema: string,
): Promise<void> {
  if (partition === null) throw new Error(`${key} is not a partition`);
  await client.query(
    `alter table ${nameOfKey(partition.parent, schema)} attach partition ${nameOfKey(key, schema)} ${partition.bound}`,
  );
}

/** Updates the planner's statistics with the copied rows. */
export async function analyzeMoved(
  client: pg.ClientBase,
  { key }: MoveTable,
  schema: string,
): Promise<void> {
  await client.query(`analyze ${nameOfKey(key, schema)}`);
}

/** Continues the target's sequences where those of the source are. */
export async function copySequence(
  source: { readonly client: pg.ClientBase; readonly schema: string },
  target: { readonly client: pg.ClientBase; readonly schema: string },
  key: string,
): Promise<void> {
  const { rows } = await source.client.query<{ value: string; called: boolean }>(
    `select last_value::text as value, is_called as called from ${nameOfKey(key, source.schema)}`,
  );
  const [state] = rows;
  if (state === undefined) return;
  await target.client.query('select setval($1::regclass, $2::bigint, $3)', [
    nameOfKey(key, target.schema),
    state.value,
    state.called,
  ]);
}

/** @returns the rows that a move has copied so far */
export async function readCopiedRows(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ rows: number }>(
    'select coalesce(sum(rows_copied), 0)::float8 as rows from installation_move_progress',
  );
  return rows[0]?.rows ?? 0;
}

/** Ends the move: from here on, the installation starts in this database. @param record writes the audit entry */
export async function finishArrival(
  { kysely }: Database,
  record: (transaction: Kysely) => Promise<void>,
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await run(transaction)`drop trigger if exists refuse_moved on installation`;
    await run(transaction)`delete from installation_move_progress`;
    await run(transaction)`delete from installation_move`;
    await record(transaction);
  });
}
