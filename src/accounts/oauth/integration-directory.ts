import { Cache } from '../../base/database/cache.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { ClientId } from '../../base/values/ids.ts';
import { integrationTopic, readIntegration, type StoredIntegration } from './integration-store.ts';

/** Caches integrations; entries are current within a second of a change on any node. */
export class IntegrationDirectory {
  readonly #integrations: Cache<StoredIntegration>;

  constructor(database: Database, changes: ChangeListener) {
    this.#integrations = new Cache(changes, integrationTopic, (clientId) =>
      readIntegration(database.kysely, clientId as ClientId),
    );
  }

  /** The integration with this client ID, disabled or not; undefined if it doesn't exist. */
  integration(
    clientId: string,
  ): Promise<StoredIntegration | undefined> | StoredIntegration | undefined {
    return this.#integrations.get(clientId);
  }
}
