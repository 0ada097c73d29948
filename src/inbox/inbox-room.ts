import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { Http } from '../http/create-http.ts';
import { InboxArrivals } from './inbox-arrivals.ts';
import { InboxBrowsers, type InboxBrowsersParts } from './inbox-browsers.ts';
import { createInboxDoor, type InboxDoorParts } from './inbox-door.ts';
import { registerInboxRoutes } from './inbox-routes.ts';
import { InboxStore } from './inbox-store.ts';
import { type InboxServer, startInboxServer } from './start-inbox-server.ts';

export interface InboxParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly token: InboxDoorParts['token'];
  /** Browsers and who is signed in with them. */
  readonly browser: InboxDoorParts['browser'] & Pick<InboxBrowsersParts, 'isSecure'>;
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
  const { database, clock, log, token, browser } = parts;
  const store = new InboxStore(database);
  const arrivals = new InboxArrivals((seconds) => store.latest(seconds), log);
  let server: InboxServer | undefined;
  return {
    registerRoutes(http) {
      const isSecure = browser.isSecure.bind(browser);
      const browsers = new InboxBrowsers({ database, clock, isSecure });
      const door = createInboxDoor({ database, token, browsers, browser });
      registerInboxRoutes(http, { store, arrivals, browsers, door });
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
