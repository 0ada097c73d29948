import type { Database } from '../foundation/database/open-database.ts';
import type { Limiter } from '../foundation/limiter.ts';
import type { Log } from '../foundation/log.ts';
import type { Http } from '../http/create-http.ts';
import {
  createInboxAccessCheck,
  type InboxAccessDependencies,
  InboxBrowsers,
  type InboxBrowsersDependencies,
} from './inbox-access.ts';
import { InboxArrivals } from './inbox-arrivals.ts';
import { registerInboxRoutes } from './inbox-routes.ts';
import { InboxStore } from './inbox-store.ts';
import { type InboxServer, startInboxServer } from './start-inbox-server.ts';

export interface InboxDependencies {
  readonly database: Database;
  readonly log: Log;
  readonly token: InboxAccessDependencies['token'];
  readonly facts: InboxAccessDependencies['facts'];
  /** Browser sessions. */
  readonly browser: InboxAccessDependencies['browser'] & InboxBrowsersDependencies['browser'];
  readonly streams: Pick<Limiter, 'tryAcquire'>;
}

/** The inbox of a service that captures its mail: SMTP in, pages and API out. */
export interface InboxModule {
  registerRoutes(http: Http): void;
  /** The port of the SMTP server on 127.0.0.1; undefined unless it is running. */
  port(): number | undefined;
  /** Starts the SMTP server. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Wires the inbox without starting it. */
export function createInbox(dependencies: InboxDependencies): InboxModule {
  const { database, log, token, facts, browser, streams } = dependencies;
  const store = new InboxStore(database);
  const arrivals = new InboxArrivals((seconds) => store.latest(seconds), log);
  let server: InboxServer | undefined;
  return {
    registerRoutes(http) {
      const browsers = new InboxBrowsers({ database, browser });
      const checkAccess = createInboxAccessCheck({ facts, token, browsers, browser });
      registerInboxRoutes(http, { store, arrivals, browsers, streams, checkAccess });
    },
    port: () => server?.port,
    async start() {
      server = await startInboxServer({ store, arrivals, log });
    },
    async stop() {
      await server?.stop();
      server = undefined;
    },
  };
}
