import { isSchemaCurrent } from '../../base/database/migrate.ts';
import {
  type Database,
  describeServer,
  openDatabase,
  requireServer,
} from '../../base/database/open-database.ts';
import { requireMatchingKey, requireNotMoved } from '../../base/secrets/installation-store.ts';
import { loadMasterKey } from '../../base/secrets/load-master-key.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { findRunningEmbedded } from '../../host/embedded-database/find-running-embedded.ts';
import { type Config, readConfig } from '../config/config.ts';
import { readAccountId, requireAccount } from './read-account.ts';
import type { CommandShell } from './shell.ts';

/** Opens the database of DATABASE_URL, or of the service running on DATA_DIR; undefined if there is none. */
export async function openRunningDatabase(
  { databaseUrl: url, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  applicationName?: string,
): Promise<Database | undefined> {
  const settings = url === undefined ? await findRunningEmbedded(dataDir) : { url };
  return settings && openDatabase(settings, { applicationName, maxConnections: 2 });
}

/** The installation that a command acts on. */
export interface RunningInstallation {
  readonly config: Config;
  readonly database: Database;
  /** The installation's key. */
  key(): Promise<MasterKey>;
}

/**
 * Runs a command on the database of DATABASE_URL, or of the service running on DATA_DIR.
 * @throws OperatorError if there is none, or this release can't use it
 */
export async function withRunningInstallation<Result>(
  shell: CommandShell,
  use: (installation: RunningInstallation) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(shell.environment);
  const database = await openRunningDatabase(config, 'signalpost command');
  if (database === undefined)
    throw new OperatorError(
      `No service is running on ${config.dataDir}. Start it, or set DATA_DIR or DATABASE_URL.`,
    );
  const key = async (): Promise<MasterKey> => {
    const loaded = await loadMasterKey(config);
    await requireMatchingKey(database, loaded);
    return loaded;
  };
  try {
    await requireServer(database);
    await requireNotMoved(database);
    if (!(await isSchemaCurrent(database).catch(() => false)))
      throw new OperatorError(
        `The database at ${describeServer(database.settings)} doesn’t have the schema of this release. Run signalpost migrate, or restart its service with this release.`,
      );
    return await use({ config, database, key });
  } finally {
    await database.close();
  }
}

/** Does what a command is for. @returns the exit code, if it isn't 0 */
type Act<Context> = (context: Context) => Promise<unknown>;

/** What a command on the running installation has. */
export interface CommandContext extends RunningInstallation {
  readonly shell: CommandShell;
}

export interface AccountContext extends CommandContext {
  readonly accountId: AccountId;
}

/**
 * Makes a command on the running installation.
 * @param prepare checks the arguments, before anything is opened, and returns what to do
 */
export function onInstallation<Args extends readonly unknown[]>(
  prepare: (...args: Args) => Act<CommandContext>,
) {
  return async (shell: CommandShell, ...args: Args): Promise<unknown> => {
    const act = prepare(...args);
    return withRunningInstallation(shell, (installation) => act({ ...installation, shell }));
  };
}

/**
 * As `onInstallation`, for a command whose first argument is an account, which must exist.
 * @param open opens the installation
 */
export function onAccount<Args extends readonly unknown[]>(
  prepare: (...args: Args) => Act<AccountContext>,
  open = withRunningInstallation<unknown>,
) {
  return async (shell: CommandShell, account: string, ...args: Args): Promise<unknown> => {
    const accountId = readAccountId(account);
    const act = prepare(...args);
    return open(shell, async (installation) => {
      await requireAccount(installation.database.kysely, accountId);
      return act({ ...installation, shell, accountId });
    });
  };
}
