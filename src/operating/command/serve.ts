import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { openTracing } from '../../base/telemetry/open-tracing.ts';
import { type NodeRole, nodeRoles } from '../../base/threads/node-role.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { createLog } from '../../base/values/log.ts';
import { readConfig } from '../config/config.ts';
import { readInboxToken } from '../manifest/demo-environment.ts';
import { shareMetrics } from './gather-metrics.ts';
import { listen, startApp } from './listen.ts';
import { openInstallation } from './open-installation.ts';
import { inheritedSocket, notifyServiceManager } from './service-manager.ts';
import type { CommandShell } from './shell.ts';
import { warnAboutLimits, warnAboutServer } from './startup-warnings.ts';
import { aborted, drain, stopSignal, stopWithTimeout } from './stop-service.ts';
import { reportUrl, superviseProcesses } from './supervise-processes.ts';

interface ServeOptions {
  readonly role: string;
  /** Number of processes that share the port and the work; one per core by default. */
  readonly processes?: number;
}

/**
 * `serve`: one of several nodes on the operator's own database, with the given roles. One without `http` and
 * `management` listens too, for /healthz, /readyz and /metrics.
 * @throws OperatorError without DATABASE_URL or for an unknown role
 */
export async function serve(
  shell: CommandShell,
  { role: roleText, processes = availableParallelism() }: ServeOptions,
): Promise<number> {
  if (cluster.isWorker) return serveProcess(shell, roleText, processes);
  if (processes <= 1) return serveProcess(shell, roleText, 1);
  const config = readConfig(shell.environment);
  const roles = [...readRoles(roleText)].join(', ');
  const log = createLog(config.logLevel);
  const stopping = stopSignal();
  stopping.addEventListener('abort', () =>
    notifyServiceManager(shell.environment, 'STOPPING=1', log),
  );
  const socket = inheritedSocket(shell.environment);
  const work = { count: processes, ...config, socket };
  return superviseProcesses(work, stopping, log, (url) => {
    shell.out(`Signalpost (${roles}) is running at ${url}\n`);
    notifyServiceManager(shell.environment, 'READY=1', log);
  });
}

/** One process of a node. */
async function serveProcess(
  shell: CommandShell,
  roleText: string,
  processes: number,
): Promise<number> {
  const config = readConfig(shell.environment);
  const roles = readRoles(roleText);
  if (config.databaseUrl === undefined) {
    throw new OperatorError(
      'serve requires DATABASE_URL, because its nodes share one database; start runs everything in one process.',
    );
  }
  const log = createLog(config.logLevel);
  const signal = stopSignal();
  const installation = await openInstallation(config, log, signal).catch((error: unknown) => {
    if (error !== signal.reason) throw error;
  });
  if (installation === undefined) return 0;
  await warnAboutServer(installation, log);
  warnAboutLimits(config, log, processes);
  const inboxToken = config.inboxToken ?? (await readInboxToken(config.dataDir));
  // Loaded last, so that problems with settings or the database show early, and the supervising process never loads it.
  const { createApp } = await import('../../app.ts');
  const app = createApp({
    config: { ...config, inboxToken },
    log,
    roles,
    processes,
    tracing: await openTracing(config.tracing, log),
    ...installation,
    ...(cluster.isWorker && { shareMetrics }),
  });
  try {
    await startApp(app, config);
    const url = await listen(app.http, config, inheritedSocket(shell.environment));
    if (cluster.isWorker) {
      reportUrl(url);
      await aborted(signal);
    } else {
      shell.out(`Signalpost (${[...roles].join(', ')}) is running at ${url}\n`);
      await notifyServiceManager(shell.environment, 'READY=1', log);
      await aborted(signal);
      await notifyServiceManager(shell.environment, 'STOPPING=1', log);
    }
    await drain(app, config);
  } finally {
    await stopWithTimeout(app, installation, log);
  }
  return 0;
}

function readRoles(text: string): Set<NodeRole> {
  const roles = text.split(',').map((name) => {
    const role = nodeRoles.find((known) => known === name.trim());
    if (role === undefined)
      throw new OperatorError(
        `--role must be one or more of ${nodeRoles.join(', ')}, separated by a comma, not "${name.trim()}".`,
      );
    return role;
  });
  return new Set(roles);
}
