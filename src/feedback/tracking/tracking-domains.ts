import { Cache } from '../../foundation/cache.ts';
import type { ChangeListener } from '../../foundation/change-listener.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';
import { readTrackingHost, trackingDomainTopic } from './tracking-domain-store.ts';

const hostPattern =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** The host that `text` spells, in lower case, or undefined where it can be none. */
export function parseTrackingHost(text: string): string | undefined {
  const host = text.trim().toLowerCase();
  return hostPattern.test(host) ? host : undefined;
}

/** Where readers of an account's mail reach this service, from memory. */
export class TrackingDomains {
  readonly #cache: Cache<{ readonly host: string | undefined }>;
  readonly #publicUrl: () => string;

  /** @param publicUrl the installation's own address, without a trailing slash */
  constructor(database: Database, changes: ChangeListener, publicUrl: () => string) {
    this.#publicUrl = publicUrl;
    this.#cache = new Cache(changes, trackingDomainTopic, async (key) => ({
      host: await readTrackingHost(database.kysely, key as AccountId),
    }));
  }

  /** The address of an account, without a trailing slash; with a host of its own always https. */
  async baseOf(accountId: AccountId): Promise<string> {
    const found = await this.#cache.get(accountId);
    return found?.host === undefined ? this.#publicUrl() : `https://${found.host}`;
  }
}
