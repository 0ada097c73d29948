import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readDatabaseClock } from '../../base/database/database-time-store.ts';
import { findDatabaseProblems } from '../../base/database/find-database-problems.ts';
import { findMissingMigrations, migrate } from '../../base/database/migrate.ts';
import { type Database, type Kysely, requireServer } from '../../base/database/open-database.ts';
import { codeOf, isUnavailable } from '../../base/database/sqlstate.ts';
import { readInstallationMove } from '../../base/secrets/installation-store.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { Log } from '../../base/values/log.ts';
import {
  createTransactionMap,
  skipTransactions,
} from '../../outcomes/feed/transaction-map-store.ts';
import { compareTables, type TableComparison } from './compare-tables-store.ts';
import { copyTable, restoreTableKeys } from './copy-table-store.ts';
import {
  type MoveCatalog,
  type MoveTable,
  orderTables,
  readMoveCatalog,
} from './move-catalog-store.ts';
import {
  beginSnapshot,
  endSnapshot,
  type MoveSession,
  openMoveSession,
  readDatabaseIdentity,
} from './move-session-store.ts';
import {
  beginMove,
  closeSource,
  endMove,
  findServiceProcesses,
  type MoveIdentity,
  readOrigin,
} from './move-source-store.ts';
import {
  analyzeMoved,
  attachMovedPartition,
  beginArrival,
  copySequence,
  createMovedPartition,
  finishArrival,
  readCopiedRows,
  readTargetState,
  type TargetState,
} from './move-target-store.ts';

/** A database of a move, and how to call it. */
interface MoveEnd {
  readonly database: Database;
  /** Host and name, or the data folder. */
  readonly name: string;
}

export interface MoveJob {
  /** Migrated to this release. */
  readonly source: MoveEnd;
  readonly target: MoveEnd;
  readonly log: Log;
  /** True if nothing else can be connected to the source, because its data folder is locked. */
  readonly sourceIsLocked: boolean;
  /** Bytes that a transaction copies. */
  readonly partBytes?: number;
  /** Writes an entry of the audit log. */
  record(
    transaction: Kysely,
    kind: string,
    detail: Readonly<Record<string, string | number>>,
  ): Promise<void>;
  /** Receives progress. */
  report(progress: MoveProgress): void;
}

/** What a move is doing. */
export type MoveProgress =
  | { readonly step: 'warning'; readonly text: string }
  | { readonly step: 'continue' }
  | { readonly step: 'copy'; readonly table: string; readonly rows: number; readonly share: number }
  | { readonly step: 'index' | 'verify'; readonly table: string };

export interface MoveResult {
  readonly moveId: string;
  readonly tables: readonly TableComparison[];
  /** Tables that don't belong to the installation and aren't moved. */
  readonly skipped: readonly string[];
  readonly rows: number;
}

const defaultPartBytes = 64 * 1_024 * 1_024;

/**
 * Copies an installation into another PostgreSQL, compares both, and closes the source.
 *
 * The installation can never start in both: the source refuses to start before the first row is copied and is closed
 * permanently once both are the same; only then does the target open. After any interruption, the same call continues.
 * @throws OperatorError if the service runs, the target can't be used, or both differ
 */
export async function moveInstallation(job: MoveJob): Promise<MoveResult> {
  const source = await openMoveSession(job.source.database.settings);
  try {
    await requireServer(job.target.database);
    await requireOtherDatabase(source, job.target);
    const target = await openMoveSession(job.target.database.settings);
    try {
      return await moveBetween(job, source, target);
    } finally {
      await target.end().catch(() => undefined);
    }
  } catch (error) {
    throw explainFailure(error) ?? error;
  } finally {
    await source.end().catch(() => undefined);
  }
}

const insufficientPrivilege = '42501';

function explainFailure(cause: unknown): OperatorError | undefined {
  if (!(cause instanceof Error) || cause instanceof OperatorError) return undefined;
  if (codeOf(cause) === insufficientPrivilege)
    return new OperatorError(
      `A database role lacks a privilege for the move: ${cause.message}. Use roles that own their databases.`,
      { cause },
    );
  if (isUnavailable(cause))
    return new OperatorError(
      `A database stopped responding: ${cause.message}. Run the same command again; it continues.`,
      { cause },
    );
  return undefined;
}

/** Before the target is locked, which would wait for the source's lock. */
async function requireOtherDatabase(source: MoveSession, target: MoveEnd): Promise<void> {
  const client = await target.database.pool.connect();
  try {
    if ((await readDatabaseIdentity(client)) === (await readDatabaseIdentity(source)))
      throw new OperatorError(
        `The installation is already in the database at ${target.name}. Choose another one.`,
      );
  } finally {
    client.release();
  }
}

async function moveBetween(
  job: MoveJob,
  source: MoveSession,
  target: MoveSession,
): Promise<MoveResult> {
  const identity = await identifyMove(job, target);
  if (identity.closed) return await openTarget(job, target, identity, [], []);
  if (!job.sourceIsLocked) await requireStopped(job.source);
  await requireMigrated(job.source);
  await prepareTarget(job);
  const schema = (await readMoveCatalog(target)).schema;
  requireSameSchema(job, await readCatalogs(source, target));
  await closeForMove(job, identity);
  if (identity.continued) job.report({ step: 'continue' });
  else if (!(await beginArrival(target, await readMoveCatalog(target), arrivalOf(job, identity))))
    throw occupied(job.target.name);
  // Nothing is written anymore, so this snapshot has everything, and a later run finds each row in the same place.
  await beginSnapshot(source);
  const catalogs = await readCatalogs(source, target);
  const { tables, skipped } = selectTables(catalogs);
  const next = await createTransactionMap(source);
  await copyAll(job, { source, target }, schema, tables);
  await buildIndexes(job, { source, target }, catalogs.source.schema, schema, tables);
  for (const key of catalogs.target.sequences)
    await copySequence(
      { client: source, schema: catalogs.source.schema },
      { client: target, schema },
      key,
    );
  await skipTransactions(target, next);
  const compared = await compareTables({ source, target, targetSchema: schema }, tables, (table) =>
    job.report({ step: 'verify', table }),
  );
  await endSnapshot(source);
  requireSame(job, compared);
  return await openTarget(job, target, identity, compared, skipped);
}

/** Closes the source for good, then opens the target: in this order, the installation can't start in both. */
async function openTarget(
  job: MoveJob,
  target: MoveSession,
  { moveId }: MoveIdentity,
  tables: readonly TableComparison[],
  skipped: readonly string[],
): Promise<MoveResult> {
  const rows = await readCopiedRows(target);
  const detail = { from: job.source.name, to: job.target.name, rows };
  const record = (transaction: Kysely) => job.record(transaction, 'installation_moved', detail);
  await closeSource(job.source.database, moveId, record);
  await finishArrival(job.target.database, record);
  return { moveId, tables, skipped, rows };
}

interface IdentifiedMove extends MoveIdentity {
  /** True if the source already records the move. */
  readonly begun: boolean;
  /** True if the target holds a part of it. */
  readonly continued: boolean;
  /** True if everything has arrived there, and only the target isn't open yet. */
  readonly closed: boolean;
}

/** Finds out which move this is, and checks that the target can be used. Changes nothing. */
async function identifyMove(job: MoveJob, target: MoveSession): Promise<IdentifiedMove> {
  const { database } = job.source;
  const origin = await readOrigin(database);
  const found = await readInstallationMove(database);
  const state = await readTargetState(target);
  if (state.kind === 'occupied') throw occupied(job.target.name);
  if (found?.side === 'target')
    throw new OperatorError(
      `The move from ${found.peer} into ${job.source.name} isn’t finished. Finish it before you move on.`,
    );
  const continued = state.kind === 'unfinished' && state.moveId === found?.moveId;
  if (found !== undefined && !continued) requireSameTarget(job, found.peer, found.finishedAt);
  requireOwnRest(job, state, origin);
  const moveId = found?.moveId ?? randomUUID();
  const closed = continued && found?.finishedAt != null;
  return { moveId, peer: job.target.name, origin, begun: found !== undefined, continued, closed };
}

function requireSameTarget(job: MoveJob, peer: string, finishedAt: Date | null): void {
  if (finishedAt !== null)
    throw new OperatorError(
      `This installation was moved to ${peer} at ${finishedAt.toISOString()}. To move it from there, set DATABASE_URL to that database.`,
    );
  if (peer !== job.target.name)
    throw new OperatorError(
      `This installation is being moved to ${peer}. Continue with that database, or first run: signalpost move --cancel`,
    );
}

function requireOwnRest(job: MoveJob, state: TargetState, origin: string): void {
  if (state.kind === 'unfinished' && state.origin !== origin)
    throw new OperatorError(
      `The database at ${job.target.name} holds an unfinished move of another installation. Choose an empty one.`,
    );
}

const occupied = (name: string): OperatorError =>
  new OperatorError(`The database at ${name} already holds an installation. Choose an empty one.`);

const reportPollMs = 500;

/**
 * Waits until processes that were killed count as ended.
 * @throws OperatorError if a process of the service is connected, or still reports
 */
async function requireStopped({ database, name }: MoveEnd): Promise<void> {
  const reports = new Map<string, number | undefined>();
  for (;;) {
    const processes = await findServiceProcesses(database);
    if (processes.length === 0) return;
    for (const { name: process, reportedAt } of processes)
      if (!reports.has(process)) reports.set(process, reportedAt?.getTime());
    const runs = processes.some(
      (process) => process.connected || reports.get(process.name) !== process.reportedAt?.getTime(),
    );
    if (runs)
      throw new OperatorError(
        `The service still uses the database at ${name}: ${processes.map((process) => process.name).join(', ')}. Stop it on every node, then run this again.`,
      );
    await delay(reportPollMs);
  }
}

/** @throws OperatorError if tables of the release before are left, which the target hasn't */
async function requireMigrated({ database }: MoveEnd): Promise<void> {
  if ((await findMissingMigrations(database)).length > 0)
    throw new OperatorError(
      'Processes of the previous release ran until a moment ago. Run the same command again in 15 seconds.',
    );
}

async function prepareTarget(job: MoveJob): Promise<void> {
  const { database } = job.target;
  const applied = await migrate(database);
  if (applied.length > 0) job.log.info({ migrations: applied.length }, 'created the schema');
  for (const { finding, advice } of await findDatabaseProblems(database.pool))
    job.report({ step: 'warning', text: `In the new database, ${finding}. ${advice}` });
  const behind =
    (await readDatabaseClock(job.source.database.pool)) - (await readDatabaseClock(database.pool));
  if (Math.abs(behind) > maxClockDifferenceMs)
    job.report({
      step: 'warning',
      text: `The clock of the new database is ${Math.round(Math.abs(behind) / 1_000)} s ${behind > 0 ? 'behind' : 'ahead of'} the old one’s. Messages become due by it: synchronize both with NTP.`,
    });
}

/** Longer than the time between both readings. */
const maxClockDifferenceMs = 5_000;

interface Catalogs {
  readonly source: MoveCatalog;
  readonly target: MoveCatalog;
}

async function readCatalogs(source: MoveSession, target: MoveSession): Promise<Catalogs> {
  return { source: await readMoveCatalog(source), target: await readMoveCatalog(target) };
}

/** @throws OperatorError if a row of a table has no place in the target */
function requireSameSchema({ target: end }: MoveJob, { source, target }: Catalogs): void {
  const known = new Map(source.tables.map((table) => [table.key, table]));
  const strangers = target.tables.filter(
    ({ key, partition }) => partition === null && !known.has(key),
  );
  if (strangers.length > 0)
    throw new OperatorError(
      `The database at ${end.name} also has the table ${strangers[0]?.key} in the schema of the installation. Choose an empty one.`,
    );
  for (const table of target.tables) {
    const same = known.get(table.key);
    if (same !== undefined && describeColumns(same) !== describeColumns(table))
      throw new OperatorError(
        `The columns of ${table.key} differ: ${describeColumns(same)} here, ${describeColumns(table)} at ${end.name}. Restore those of this release.`,
      );
  }
}

function describeColumns({ columns }: MoveTable): string {
  return columns
    .map(({ name, type }) => `${name} ${type}`)
    .sort()
    .join(', ');
}

/** A table of the source, and whether the target has it. */
interface MovedTable extends MoveTable {
  readonly inTarget: 'missing' | 'detached' | 'complete';
}

interface SelectedTables {
  /** The installation's, in the order in which they can be written. */
  readonly tables: readonly MovedTable[];
  /** Other tables in its schema. */
  readonly skipped: readonly string[];
}

function selectTables({ source, target }: Catalogs): SelectedTables {
  const inTarget = new Map(target.tables.map((table) => [table.key, table]));
  const roots = new Set(target.tables.map(({ root }) => root));
  const tables = source.tables.flatMap((table): MovedTable[] => {
    const found = inTarget.get(table.key);
    if (found === undefined && !(table.partition !== null && roots.has(table.root))) return [];
    if (found === undefined) return [{ ...table, inTarget: 'missing' }];
    const detached = table.partition !== null && found.partition === null;
    return [{ ...table, inTarget: detached ? 'detached' : 'complete' }];
  });
  const order = orderTables([...new Set(tables.map(({ root }) => root))], source.references);
  const moved = new Set(tables.map(({ key }) => key));
  return {
    tables: tables.toSorted((a, b) => order.indexOf(a.root) - order.indexOf(b.root)),
    skipped: source.tables.map(({ key }) => key).filter((key) => !moved.has(key)),
  };
}

/** Closes the source for everything else, unless it is already closed. */
async function closeForMove(job: MoveJob, identity: IdentifiedMove): Promise<void> {
  const { database, name } = job.source;
  if (identity.begun) return;
  const detail = { from: name, to: job.target.name };
  await beginMove(database, identity, (transaction) =>
    job.record(transaction, 'installation_move_started', detail),
  );
  if (job.sourceIsLocked) return;
  try {
    // A process that checked for a move before this one began is connected by now.
    await requireStopped(job.source);
  } catch (error) {
    await endMove(database, (transaction) =>
      job.record(transaction, 'installation_move_canceled', detail),
    );
    throw error;
  }
}

/** The move as the target records it. */
function arrivalOf(job: MoveJob, { moveId, origin }: MoveIdentity): MoveIdentity {
  return { moveId, origin, peer: job.source.name };
}

async function copyAll(
  job: MoveJob,
  sessions: { readonly source: MoveSession; readonly target: MoveSession },
  targetSchema: string,
  tables: readonly MovedTable[],
): Promise<void> {
  const { partBytes = defaultPartBytes } = job;
  const totalBytes = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let [doneBytes, doneRows] = [0, 0];
  for (const table of tables) {
    if (table.inTarget === 'missing')
      await createMovedPartition(sessions.target, table, targetSchema);
    doneRows += await copyTable({ ...sessions, targetSchema, partBytes }, table, (part) =>
      job.report({
        step: 'copy',
        table: table.key,
        rows: doneRows + part.rows,
        share: (doneBytes + part.share * table.bytes) / Math.max(1, totalBytes),
      }),
    );
    doneBytes += table.bytes;
  }
}

async function buildIndexes(
  job: MoveJob,
  { source, target }: { readonly source: MoveSession; readonly target: MoveSession },
  sourceSchema: string,
  schema: string,
  tables: readonly MovedTable[],
): Promise<void> {
  for (const table of tables) {
    if (table.inTarget === 'complete') continue;
    job.report({ step: 'index', table: table.key });
    await attachMovedPartition(target, table, schema);
  }
  await restoreTableKeys(
    { session: source, schema: sourceSchema },
    { session: target, schema },
    new Set(tables.map(({ key }) => key)),
    (table) => job.report({ step: 'index', table }),
  );
  for (const table of tables) await analyzeMoved(target, table, schema);
}

function requireSame(job: MoveJob, compared: readonly TableComparison[]): void {
  const different = compared.filter(({ same }) => !same);
  if (different.length === 0) return;
  throw new MoveMismatch(job.target.name, different);
}

/** Both databases differ after the copy. */
export class MoveMismatch extends OperatorError {
  readonly tables: readonly TableComparison[];

  constructor(target: string, tables: readonly TableComparison[]) {
    super(
      `The copy at ${target} differs from the original in ${tables.map(({ table }) => table).join(', ')}. Nothing was changed in the old database. To use it again, run signalpost move --cancel; a move after that copies everything anew.`,
    );
    this.tables = tables;
  }
}
