import cluster from 'node:cluster';
import { findDatabaseProblems } from '../foundation/database/find-database-problems.ts';
import type { Log } from '../foundation/log.ts';
import type { Installation } from './open-installation.ts';

/** Logs what can cost mail about the operator's database server, once per node. */
export async function warnAboutServer(
  { database, embedded }: Installation,
  log: Log,
): Promise<void> {
  if (embedded !== undefined || (cluster.worker?.id ?? 1) > 1) return;
  const problems = await findDatabaseProblems(database.pool).catch(() => []);
  for (const { finding, advice } of problems) log.warn({ advice }, `the database: ${finding}`);
}
