import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { Http } from '../http/create-http.ts';
import { InboxArrivals } from './inbox-arrivals.ts';
import { registerInboxRoutes } from './inbox-routes.ts';
import { InboxStore } from './inbox-store.ts';
import { type MayReadParts, mayReadInbox } from './may-read-inbox.ts';
import { type InboxServer, startInboxServer } from './start-inbox-server.ts';

export interface InboxParts extends MayReadParts {
  readonly database: Database;
  readonly log: Log;
}

/** The inbox of a service that captures its mail: SMTP in, pages and API out. */
export interface InboxRoom {
  registerRoutes(http: Http): void;
  /** The port of the SMTP server on 127.0.0.1; undefined while it does not run. */
  port(): number | undefined;
  /** Starts the SMTP server. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Connects the files of the room; nothing runs yet. */
export function createInbox(parts: InboxParts): InboxRoom {
  const { database, log } = parts;
  const store = new InboxStore(database);
  const arrivals = new InboxArrivals((seconds) => store.latest(seconds), log);
  let server: InboxServer | undefined;
  return {
    registerRoutes(http) {
      registerInboxRoutes(http, { store, arrivals, mayRead: mayReadInbox(parts) });
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
