import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { urlOf } from '../../scripts/test-postgres.ts';
import { migrate } from '../../src/base/database/migrate.ts';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { initializedFolder, startEmbedded } from './embedded-scene.ts';

/**
 * A stopped data folder as release 0.1.0 left it: one role, a superuser, owns everything in it, and all
 * of it is in `public`.
 */
export async function oldDataFolder(): Promise<string> {
  const dataDir = await initializedFolder();
  const embedded = await startEmbedded(dataDir);
  const url = new URL(urlOf(embedded.admin));
  url.searchParams.set('options', '-c search_path=public');
  const database = openDatabase({ url: url.href });
  for (const statement of [
    'alter database postgres owner to signalpost',
    'drop owned by signalpost_service',
    'drop role signalpost_service',
  ])
    await database.pool.query(statement);
  await migrate(database);
  await database.pool.query(
    'create schema graphile_worker; create table graphile_worker._private_jobs (id bigint primary key)',
  );
  await database.pool.query("insert into account (id, name) values ('1', 'Kept')");
  await database.close();
  await embedded.stop();
  await rm(join(dataDir, 'database.service.password'));
  return dataDir;
}
