import cluster from 'node:cluster';
import type { Config } from '../config/config.ts';
import type { Log } from '../foundation/log.ts';
import { minOpenFiles, readOpenFileLimit, wantedOpenFiles } from '../http/limits/cap-to-open-file-limit.ts';

/** Logs that the limit of open files leaves few connections, once per node. */
export function warnAboutOpenFiles({ connections }: Config, log: Log): void {
  const files = readOpenFileLimit();
  if (files === undefined || files >= minOpenFiles || (cluster.worker?.id ?? 1) > 1) return;
  log.warn(
    {
      advice: `Set LimitNOFILE=${wantedOpenFiles} in the unit, or ulimit -n ${wantedOpenFiles}.`,
    },
    `the limit of ${files} open files allows only ${connections.total} connections`,
  );
}
