import cluster from 'node:cluster';
import { findDatabaseProblems } from '../../base/database/find-database-problems.ts';
import { describeMemoryLimit, fullMemory, memoryShare } from '../../base/fairness/memory-share.ts';
import type { Log } from '../../base/values/log.ts';
import {
  minOpenFiles,
  readOpenFileLimit,
  wantedOpenFiles,
} from '../../host/http/limits/limit-connections.ts';
import { formatBytes } from '../../host/http/limits/route-limits.ts';
import type { Config } from '../config/config.ts';
import type { Installation } from './open-installation.ts';

/**
 * Logs, once per node, where the limits of its container, unit or machine leave it little.
 * @param processes number of processes that share them
 */
export function warnAboutLimits({ connections }: Config, log: Log, processes = 1): void {
  if ((cluster.worker?.id ?? 1) > 1) return;
  const share = memoryShare(processes);
  if (share < 1)
    log.info(
      {
        advice: `With ${formatBytes(processes * fullMemory)}, more large messages are taken at once.`,
      },
      `memory is limited to ${describeMemoryLimit()}; bodies and attachments get ${Math.round(share * 100)}% of the usual space`,
    );
  const files = readOpenFileLimit();
  if (files === undefined || files >= minOpenFiles) return;
  log.warn(
    {
      advice: `Set LimitNOFILE=${wantedOpenFiles} in the unit, or ulimit -n ${wantedOpenFiles}.`,
    },
    `the limit of ${files} open files allows only ${connections.total} connections`,
  );
}

/** Logs what can cost mail about the operator's database server, once per node. */
export async function warnAboutServer(
  { database, embedded }: Installation,
  log: Log,
): Promise<void> {
  if (embedded !== undefined || (cluster.worker?.id ?? 1) > 1) return;
  const problems = await findDatabaseProblems(database.pool).catch(() => []);
  for (const { finding, advice } of problems) log.warn({ advice }, `the database: ${finding}`);
}
