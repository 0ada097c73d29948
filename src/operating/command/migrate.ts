import { describeLostAccess } from '../../accounts/access/lost-access-store.ts';
import { findMissingMigrations } from '../../base/database/migrate.ts';
import type { Migration } from '../../base/database/migration-files.ts';
import { requireServer } from '../../base/database/open-database.ts';
import { planLocks } from '../../base/database/plan-locks.ts';
import { createLog } from '../../base/values/log.ts';
import { type Config, readConfig } from '../config/config.ts';
import { adviseOnOperators } from './doctor/installation-checks.ts';
import { openConfiguredDatabase, openInstallation } from './open-installation.ts';
import { openRunningDatabase } from './open-running.ts';
import { type CommandShell, printResult } from './shell.ts';
import { exitOnSignal } from './stop-service.ts';

interface PlannedMigration {
  readonly name: string;
  /** Whether processes of the previous release keep running. */
  readonly compatible: boolean;
  /** What the migration blocks. */
  readonly locks: readonly string[];
}

/**
 * `migrate`: migrates the database to this release and exits.
 * With `--plan`, it lists the migrations and manual changes without changing anything.
 */
export async function migrateCommand(
  shell: CommandShell,
  { plan }: { readonly plan?: boolean },
): Promise<void> {
  const config = readConfig(shell.environment);
  exitOnSignal();
  if (plan === true) return printPlan(config, shell);
  const installation = await openInstallation(config, createLog(config.logLevel));
  const advice = await adviseOnOperators(installation.database.kysely);
  await installation.close();
  const text = ['The database is up to date.', ...(advice === undefined ? [] : [advice])];
  printResult(shell, text.join('\n'), { migrated: true, advice: advice ?? null });
}

/** The last migration before releases could run beside the next one. */
const lastIncompatible = 69;

/** Whether the database is one of 0.1. */
function isFromBefore(missing: readonly Migration[]): boolean {
  return missing.some(({ version }) => version <= lastIncompatible) && missing[0]?.version !== 1;
}

function describeMigration({ name, compatible, locks }: PlannedMigration): string[] {
  return [
    `  ${name}${compatible ? '' : ' (once no process of an older release runs)'}`,
    ...locks.map((lock) => `    ${lock}`),
  ];
}

async function printPlan(config: Config, shell: CommandShell): Promise<void> {
  const { database, close } = await openExisting(config);
  try {
    await requireServer(database);
    const missing = await findMissingMigrations(database);
    const planned: PlannedMigration[] = await Promise.all(
      missing.map(async (migration) => ({
        name: migration.name,
        compatible: migration.contractsAfter === undefined,
        locks: await planLocks(database.pool, migration),
      })),
    );
    const lines =
      missing.length === 0
        ? ['The database is up to date.']
        : [`${missing.length} migrations to run:`, ...planned.flatMap(describeMigration)];
    if (isFromBefore(missing))
      lines.push('', 'Stop every process of 0.1 first: it can’t run with these migrations.');
    // An empty database has no clients that could lose access.
    const { rows } = await database.pool.query<{ exists: boolean }>(
      "select to_regclass('session_pair') is not null and to_regclass('api_key') is not null as exists",
    );
    const changes = rows[0]?.exists === true ? await describeLostAccess(database.kysely) : [];
    if (changes.length > 0)
      lines.push('', 'Manual changes required:', ...changes.map((change) => `  ${change}`));
    printResult(shell, lines.join('\n'), { migrations: planned, manualChanges: changes });
  } finally {
    await close();
  }
}

/** Opens the database as it is, also of another release. */
async function openExisting(config: Config) {
  const running = await openRunningDatabase(config);
  if (running !== undefined) return { database: running, close: () => running.close() };
  // A plan changes nothing, so it prepares no archive either.
  const withoutArchive = { ...config, backup: { ...config.backup, to: undefined } };
  return openConfiguredDatabase(withoutArchive, createLog(config.logLevel));
}
