import type { Http } from '../http/create-http.ts';
import { InboxStore } from '../inbox/inbox-store.ts';
import { QueueControlStore } from '../queue/control-store.ts';
import { ApiKeys } from './access/api-key.ts';
import type { ManagementParts } from './management-parts.ts';
import { registerManagementRoutes } from './management-routes.ts';
import { registerDocumentRoutes } from './openapi/document-routes.ts';

export interface ManagementRoomParts
  extends Omit<ManagementParts, 'apiKeys' | 'controls' | 'inbox'> {}

/** The management API as the rest of the service sees it. */
export interface Management {
  registerRoutes(http: Http): void;
}

/** Connects the files of the room. */
export function createManagement(parts: ManagementRoomParts): Management {
  const { database, key, clock, facts } = parts;
  const inbox = facts.delivery === 'inbox' ? new InboxStore(database) : undefined;
  const controls = new QueueControlStore(database, clock);
  const all = { ...parts, apiKeys: new ApiKeys(key), controls, inbox };
  return {
    registerRoutes(http) {
      registerManagementRoutes(http, all);
      registerDocumentRoutes(http, facts.version);
    },
  };
}
