import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { migrate } from '../../base/database/migrate.ts';
import {
  type Database,
  describeServer,
  openDatabase,
  requireServer,
} from '../../base/database/open-database.ts';
import {
  type InstallationMove,
  readInstallationMove,
} from '../../base/secrets/installation-store.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { createLog } from '../../base/values/log.ts';
import { dataFolderAt } from '../../host/embedded-database/data-folder.ts';
import { type Config, readConfig } from '../config/config.ts';
import type { TableComparison } from '../move/compare-tables-store.ts';
import { MoveMismatch, type MoveProgress, moveInstallation } from '../move/move-installation.ts';
import { moveApplication, openMoveSession } from '../move/move-session-store.ts';
import { endMove } from '../move/move-source-store.ts';
import { readTargetState } from '../move/move-target-store.ts';
import { openConfiguredDatabase } from './open-installation.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, printResult, printTable, type TableColumn } from './shell.ts';
import { exitOnSignal } from './stop-service.ts';

interface MoveOptions {
  /** URL of the database to move to. */
  readonly to?: string;
  readonly cancel?: true;
  readonly yes?: true;
}

/**
 * `move --to URL`: copies the stopped installation into another PostgreSQL. `move --cancel`: stays with this database, or, with
 * `--yes`, goes back to it after a move.
 * @returns the exit code: 0
 * @throws OperatorError if the service runs, a database can't be used, or the copy differs; the same command continues after
 * an interruption
 */
export async function moveCommand(shell: CommandShell, options: MoveOptions): Promise<number> {
  const { to, cancel = false } = options;
  if ((to === undefined) !== cancel)
    throw new OperatorError('Choose either --to with the URL of the other database, or --cancel.');
  const config = readConfig(shell.environment);
  exitOnSignal();
  const source = await openSource(config);
  try {
    return to === undefined
      ? await cancelMove(source, options, shell)
      : await moveTo(to, source, config, shell);
  } finally {
    await source.close();
  }
}

interface MoveSource {
  readonly database: Database;
  /** Host and name, or the data folder. */
  readonly name: string;
  readonly embedded: boolean;
  close(): Promise<void>;
}

/** Opens the database in force, whether it takes part in a move or not. */
async function openSource(config: Config): Promise<MoveSource> {
  const folder = dataFolderAt(resolve(config.dataDir));
  if (config.databaseUrl === undefined && !existsSync(folder.cluster))
    throw new OperatorError(
      `There is no installation in ${folder.path}. Set DATA_DIR or DATABASE_URL as for the service.`,
    );
  const { database, embedded, close } = await openConfiguredDatabase(
    config,
    createMoveLog(config),
    { applicationName: moveApplication },
  );
  try {
    await requireServer(database);
    const name =
      embedded === undefined
        ? describeServer(database.settings)
        : `the embedded database in ${folder.path}`;
    await requireInstallation(database, name);
    await migrate(database);
    return { database, name, embedded: embedded !== undefined, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function requireInstallation({ pool }: Database, name: string): Promise<void> {
  const client = await pool.connect();
  try {
    if ((await readTargetState(client)).kind === 'empty')
      throw new OperatorError(
        `There is no installation in ${name}. Set DATA_DIR or DATABASE_URL as for the service.`,
      );
  } finally {
    client.release();
  }
}

/** Logs warnings and errors only, because people read the output. */
function createMoveLog({ logLevel }: Config) {
  return createLog(logLevel === 'info' ? 'warn' : logLevel);
}

async function moveTo(
  url: string,
  source: MoveSource,
  config: Config,
  shell: CommandShell,
): Promise<number> {
  const target = openDatabase({ url }, { applicationName: moveApplication, maxConnections: 4 });
  const name = describeServer({ url });
  const report = createReporter(shell);
  try {
    const { tables, skipped, rows, moveId } = await moveInstallation({
      source,
      target: { database: target, name },
      sourceIsLocked: source.embedded,
      log: createMoveLog(config),
      record: (transaction, kind, detail) => recordCommand(transaction, { kind, detail }),
      report,
    });
    printComparison(tables, shell);
    const next = nextSteps(config, source, name);
    const others =
      skipped.length > 0 ? ` Other tables stay where they are: ${skipped.join(', ')}.` : '';
    const text = [
      `Moved the installation from ${source.name} to ${name}: ${rows} rows, and both are the same.${others}`,
      'The old database refuses to start from now on. Next:',
      ...next.map((step, index) => `  ${index + 1}. ${step}`),
    ].join('\n');
    printResult(shell, text, {
      moved: moveId,
      from: source.name,
      to: name,
      rows,
      skipped,
      next,
    });
    return 0;
  } catch (error) {
    if (error instanceof MoveMismatch) printTable(shell, error.tables, comparisonColumns);
    throw error;
  } finally {
    await target.close();
  }
}

const comparisonColumns: readonly TableColumn<TableComparison>[] = [
  ['table', ({ table }) => table],
  ['rows', ({ rows }) => String(rows)],
  ['copied', ({ copied }) => String(copied)],
  ['checksum', ({ checksum }) => checksum],
  ['of the copy', ({ checksumOfCopy }) => checksumOfCopy],
  ['result', ({ same }) => (same ? 'same' : 'DIFFERENT')],
];

/** Prints only tables that have rows. */
function printComparison(tables: readonly TableComparison[], shell: CommandShell): void {
  const shown = shell.json ? tables : tables.filter(({ rows, copied }) => rows > 0 || copied > 0);
  printTable(shell, shown, comparisonColumns);
}

function nextSteps(config: Config, source: MoveSource, target: string): string[] {
  const key =
    config.key === undefined
      ? `Keep the master key: ${config.dataDir}/signalpost.key stays in DATA_DIR of this machine. Copy it to DATA_DIR of every other node, or the secrets in the database can’t be read.`
      : 'Keep the master key: set the same SIGNALPOST_KEY on every node, or the secrets in the database can’t be read.';
  const backup = source.embedded
    ? 'Back up the new database: the backups of the embedded one end here. Remove BACKUP_TO, and set up pg_dump or continuous archiving as in docs/operate/back-up.md.'
    : 'Back up the new database: point pg_dump or continuous archiving to it, as in docs/operate/back-up.md.';
  return [
    `On every node, set DATABASE_URL to the database at ${target}.`,
    key,
    backup,
    'Check everything with those settings: signalpost doctor',
    'Start the service. What was queued is sent by the new one.',
  ];
}

/** Milliseconds between lines about the same step. */
const reportIntervalMs = 2_000;

/** Prints progress, but not for every part of a table. */
function createReporter(shell: CommandShell): (progress: MoveProgress) => void {
  let lastStep = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    const now = performance.now();
    const isNews = progress.step !== lastStep || progress.step === 'warning';
    if (!isNews && now - lastAt < reportIntervalMs) return;
    [lastStep, lastAt] = [progress.step, now];
    printResult(shell, describeProgress(progress), progress);
  };
}

function describeProgress(progress: MoveProgress): string {
  switch (progress.step) {
    case 'warning':
      return `Warning: ${progress.text}`;
    case 'continue':
      return 'Continuing where the last run stopped.';
    case 'copy':
      return `Copying: ${Math.floor(progress.share * 100)} %, ${progress.rows} rows, now ${progress.table}`;
    case 'index':
      return `Building indexes of ${progress.table}`;
    case 'verify':
      return `Comparing ${progress.table}`;
  }
}

async function cancelMove(
  source: MoveSource,
  options: MoveOptions,
  shell: CommandShell,
): Promise<number> {
  const session = await openMoveSession(source.database.settings);
  try {
    const move = await readInstallationMove(source.database);
    if (move === undefined) {
      printResult(shell, 'No move is in progress.', { canceled: false });
      return 0;
    }
    if (move.side === 'target')
      throw new OperatorError(
        `This database is the target of a move from ${move.peer}. Run this with the settings of that database.`,
      );
    if (move.finishedAt !== null && options.yes !== true) {
      printResult(shell, describeReturn(move), { canceled: false, ...move });
      return 0;
    }
    const detail = { to: move.peer, finished: move.finishedAt !== null };
    await endMove(source.database, (transaction) =>
      recordCommand(transaction, { kind: 'installation_move_canceled', detail }),
    );
    const text = `The installation stays in ${source.name}. Start the service as usual; the copy at ${move.peer} can be dropped.`;
    printResult(shell, text, { canceled: true, ...move });
    return 0;
  } finally {
    await session.end().catch(() => undefined);
  }
}

function describeReturn({ peer, finishedAt }: InstallationMove): string {
  return [
    `This installation was moved to ${peer} at ${finishedAt?.toISOString()}, and may have run there since:`,
    '  What was accepted or changed there is missing here.',
    '  Messages that were queued at that time would be sent from here too.',
    `Nothing was changed. To go back to this database, first stop the service on ${peer} on every node, then run:`,
    '  signalpost move --cancel --yes',
  ].join('\n');
}
