import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runMigrations } from 'graphile-worker';
import { migrate } from '../../src/foundation/database/migrate.ts';
import { openDatabase } from '../../src/foundation/database/open-database.ts';
import { initializedFolder, startEmbedded } from './embedded-scene.ts';

/** A stopped data folder as release 0.1.0 left it: one role, a superuser, owns everything in it. */
export async function oldDataFolder(): Promise<string> {
  const dataDir = await initializedFolder();
  const embedded = await startEmbedded(dataDir);
  const database = openDatabase(embedded.admin);
  for (const statement of [
    'alter database postgres owner to signalpost',
    'drop owned by signalpost_service',
    'drop role signalpost_service',
  ])
    await database.pool.query(statement);
  await migrate(database);
  await runMigrations({ pgPool: database.pool });
  await database.pool.query("insert into account (id, name) values ('1', 'Kept')");
  await database.close();
  await embedded.stop();
  await rm(join(dataDir, 'database.service.password'));
  return dataDir;
}
