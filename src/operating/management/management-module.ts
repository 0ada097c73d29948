import type { Database } from '../../base/database/open-database.ts';
import type { SharedPool } from '../../base/database/shared-pool.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Http } from '../../host/http/create-http.ts';
import { InboxStore } from '../../sending/inbox/inbox-store.ts';
import { QueueControlStore } from '../../sending/queue/control-store.ts';
import { removeOldRejected } from './import/import-store.ts';
import { RunningImports } from './import/running-imports.ts';
import type { ManagementDependencies } from './management-dependencies.ts';
import { registerManagementRoutes } from './management-routes.ts';
import { registerDocumentRoutes } from './openapi/document-routes.ts';

interface ManagementModuleDependencies
  extends Omit<
    ManagementDependencies,
    'changeSlots' | 'controls' | 'imports' | 'inbox' | 'stopping' | 'unlimitedDatabase'
  > {
  /** Database connections of the API. */
  readonly connections: SharedPool;
}

/** The management API, as seen by the rest of the service. */
interface Management {
  registerRoutes(http: Http): void;
  /** Stops background imports. No requests may follow. */
  stop(): Promise<void>;
}

const hourMs = 3_600_000;

/** Wires up the management API. */
export function createManagement(dependencies: ManagementModuleDependencies): Management {
  const { facts, connections } = dependencies;
  const stopping = new AbortController();
  const shared = {
    ...dependencies,
    stopping: stopping.signal,
    changeSlots: new Limiter(policies.changes),
    imports: new RunningImports(),
  };
  const dependenciesWith = (database: Database): ManagementDependencies => ({
    ...shared,
    database,
    unlimitedDatabase: dependencies.database,
    inbox: facts.delivery === 'inbox' ? new InboxStore(database) : undefined,
    controls: new QueueControlStore(database),
  });
  const installationDependencies = dependenciesWith(dependencies.database);
  const upkeep = new PeriodicTask(hourMs, () => removeOldRejected(dependencies.database.kysely), {
    onError: (error) =>
      dependencies.log.warn({ err: error }, 'could not remove rejected rows of old imports'),
  });
  upkeep.start();
  return {
    registerRoutes(http) {
      http.addHook('preClose', async () => stopping.abort());
      registerManagementRoutes(http, installationDependencies, (account) =>
        dependenciesWith(connections.forAccount(account)),
      );
      registerDocumentRoutes(http, facts.version);
    },
    async stop() {
      await upkeep.stop();
      await shared.imports.stop();
    },
  };
}
