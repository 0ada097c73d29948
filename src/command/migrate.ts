import { readConfig } from '../config.ts';
import { createLog } from '../foundation/log.ts';
import { adviseOnOperators } from './doctor/check-operators.ts';
import { exitAtSignal } from './exit-at-signal.ts';
import { openInstallation } from './open-installation.ts';

/** `migrate`: brings the database to this release and ends. */
export async function migrateCommand(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const config = readConfig(environment);
  exitAtSignal();
  const installation = await openInstallation(config, createLog(config.logLevel));
  const advice = await adviseOnOperators(installation.database.kysely);
  await installation.close();
  process.stdout.write('The database is current.\n');
  if (advice !== undefined) process.stdout.write(`${advice}\n`);
  return 0;
}
