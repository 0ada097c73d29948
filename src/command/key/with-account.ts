import { existsSync } from 'node:fs';
import { readConfig } from '../../config/config.ts';
import { dataFolderAt } from '../../embedded-database/data-folder.ts';
import { OperatorError } from '../../foundation/errors.ts';
import { type AccountId, parseMessageId } from '../../foundation/ids.ts';
import { exitOnSignal } from '../exit-on-signal.ts';
import { joinInstallation } from '../join-installation.ts';
import type { Installation } from '../open-installation.ts';
import { readAccountId } from '../read-account.ts';
import { requireAccount } from '../require-account.ts';
import type { CommandShell } from '../shell.ts';

/**
 * Runs a command on an account of the installation of DATABASE_URL or DATA_DIR, even while its service runs.
 * @throws OperatorError if the account doesn't exist, or the installation can't be reached
 */
export async function withAccount(
  accountText: string,
  shell: CommandShell,
  use: (installation: Installation, accountId: AccountId) => Promise<number>,
): Promise<number> {
  const accountId = readAccountId(accountText);
  const config = readConfig(shell.environment);
  // A new database would have no account, and its files would look like an installation.
  if (config.databaseUrl === undefined && !existsSync(dataFolderAt(config.dataDir).cluster))
    throw new OperatorError(
      `There is no installation in ${config.dataDir}. Start the service first, or set DATA_DIR or DATABASE_URL as for the service.`,
    );
  exitOnSignal();
  const installation = await joinInstallation(config);
  try {
    await requireAccount(installation.database.kysely, accountId);
    return await use(installation, accountId);
  } finally {
    await installation.close();
  }
}

/** Parses the id of a key. @throws OperatorError if invalid, for example the key itself */
export function readKeyId(text: string): string {
  const id = parseMessageId(text);
  if (id === undefined)
    throw new OperatorError('The ID must be an API key ID, as shown by key list.');
  return id;
}

/** @throws OperatorError if `text` is not a whole number in the range */
export function readInteger(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d{1,4}$/.test(text) || value < min || value > max)
    throw new OperatorError(
      `${option} must be a whole number from ${min} to ${max}, not "${text}".`,
    );
  return value;
}
