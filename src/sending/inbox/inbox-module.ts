import type { Log } from '../../base/values/log.ts';
import type { Http } from '../../host/http/create-http.ts';
import {
  createInboxAccessCheck,
  type InboxAccessDependencies,
  InboxReaders,
} from './inbox-access.ts';
import { createInboxArrivals } from './inbox-arrivals.ts';
import { registerInboxRoutes } from './inbox-routes.ts';
import { InboxStore } from './inbox-store.ts';
import { type InboxServer, startInboxServer } from './start-inbox-server.ts';

type ReadersDependencies = ConstructorParameters<typeof InboxReaders>[0];

export interface InboxDependencies
  extends Omit<InboxAccessDependencies, 'readers'>,
    Omit<ReadersDependencies, 'browser'> {
  readonly log: Log;
  /** Browser sessions. */
  readonly browser: InboxAccessDependencies['browser'] & ReadersDependencies['browser'];
}

/** The inbox of a service that captures its mail: SMTP in, API out. */
export function createInbox(dependencies: InboxDependencies) {
  const { database, log } = dependencies;
  const store = new InboxStore(database);
  const arrivals = createInboxArrivals((seconds) => store.latest(seconds), log);
  const readers = new InboxReaders(dependencies);
  let server: InboxServer | undefined;
  return {
    readers,
    arrivals,
    registerRoutes(http: Http): void {
      const checkAccess = createInboxAccessCheck({ ...dependencies, readers });
      registerInboxRoutes(http, { store, arrivals, readers, checkAccess });
    },
    /** The port of the SMTP server on 127.0.0.1; undefined unless it is running. */
    port: () => server?.port,
    /** Starts the SMTP server. */
    async start(): Promise<void> {
      server = await startInboxServer({ store, arrivals, log });
    },
    async stop(): Promise<void> {
      await server?.stop();
      server = undefined;
    },
  };
}
