import type { Http } from '../http/create-http.ts';
import { InboxStore } from '../inbox/inbox-store.ts';
import { QueueControlStore } from '../queue/control-store.ts';
import { RunningImports } from './import/running-imports.ts';
import type { ManagementParts } from './management-parts.ts';
import { registerManagementRoutes } from './management-routes.ts';
import { registerDocumentRoutes } from './openapi/document-routes.ts';

export interface ManagementRoomParts
  extends Omit<ManagementParts, 'controls' | 'imports' | 'inbox'> {}

/** The management API as the rest of the service sees it. */
export interface Management {
  registerRoutes(http: Http): void;
  /** Ends what goes on behind answers; nothing may be asked any more. */
  stop(): Promise<void>;
}

/** Connects the files of the room. */
export function createManagement(parts: ManagementRoomParts): Management {
  const { database, clock, facts } = parts;
  const inbox = facts.delivery === 'inbox' ? new InboxStore(database) : undefined;
  const controls = new QueueControlStore(database, clock);
  const imports = new RunningImports();
  const all = { ...parts, controls, imports, inbox };
  return {
    registerRoutes(http) {
      registerManagementRoutes(http, all);
      registerDocumentRoutes(http, facts.version);
    },
    stop: () => imports.stop(),
  };
}
