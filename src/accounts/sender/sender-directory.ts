import { batchReads } from '../../base/database/batch-reads.ts';
import { Cache } from '../../base/database/cache.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { systemAccountId } from '../notices/system-mail.ts';
import type { DkimKey } from './dkim-key.ts';
import type { DkimKeyStore } from './dkim-key-store.ts';
import {
  readSendersByRef,
  type Sender,
  type SenderRef,
  senderKey,
  senderTopic,
} from './sender-store.ts';
import type { SendingDomain } from './sending-domain.ts';
import {
  domainKey,
  domainTopic,
  findAccountWithVerifiedDomain,
  isTrackingHostReady,
  readSendingDomain,
} from './sending-domain-store.ts';

/** Cached senders, at most a second behind changes on any node. */
export class SenderDirectory {
  readonly #senders: Cache<Sender>;

  constructor(database: Database, changes: ChangeListener) {
    const readOne = batchReads((refs: readonly SenderRef[]) =>
      readSendersByRef(database.kysely, refs),
    );
    this.#senders = new Cache(changes, senderTopic, (key) => {
      const slash = key.indexOf('/');
      return readOne({
        accountId: key.slice(0, slash) as AccountId,
        address: key.slice(slash + 1),
      });
    });
  }

  /**
   * The sender of an account, verified or not; undefined if it doesn't exist.
   * @param address normalized: lower case, ASCII domain
   */
  sender(accountId: AccountId, address: string): Promise<Sender | undefined> | Sender | undefined {
    return this.#senders.get(senderKey(accountId, address));
  }
}

/** A domain with its signing keys. */
export interface SigningDomain extends SendingDomain {
  readonly keys: readonly DkimKey[];
  /** True if the record of the tracking host was found, so links can use it. */
  readonly trackingReady: boolean;
}

/** Cached sending domains with their keys, at most a second behind changes on any node. */
export class DomainDirectory {
  readonly #domains: Cache<SigningDomain>;
  readonly #database: Database;

  constructor(database: Database, changes: ChangeListener, keys: DkimKeyStore) {
    this.#database = database;
    const load = async (key: string): Promise<SigningDomain | undefined> => {
      const slash = key.indexOf('/');
      const accountId = key.slice(0, slash) as AccountId;
      const name = key.slice(slash + 1);
      const domain = await readSendingDomain(database.kysely, accountId, name);
      if (domain === undefined) return undefined;
      const trackingReady =
        domain.trackingHost !== undefined &&
        (await isTrackingHostReady(database.kysely, accountId, name));
      const signingKeys = await keys.readSigningKeys(database.kysely, accountId, name);
      return { ...domain, keys: signingKeys, trackingReady };
    };
    // Every message looks for the domain of its sender and its parents, of which most accounts have none.
    this.#domains = new Cache(changes, domainTopic, load, { keepMissing: true });
  }

  /**
   * The signing domain for a From domain: the domain itself or the account's nearest parent domain, which is aligned for
   * DMARC (RFC 7489 section 3.1.1, relaxed).
   */
  async find(accountId: AccountId, fromDomain: string): Promise<SigningDomain | undefined> {
    if (accountId === systemAccountId) return this.#findAnywhere(fromDomain);
    for (let name = fromDomain; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
      const found = await this.#domains.get(domainKey(accountId, name));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The operator chooses the sender of system mail, so any account's verified domain can sign it. */
  async #findAnywhere(fromDomain: string): Promise<SigningDomain | undefined> {
    for (let name = fromDomain; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
      const accountId = await findAccountWithVerifiedDomain(this.#database.kysely, name);
      if (accountId !== undefined) return this.#domains.get(domainKey(accountId, name));
    }
    return undefined;
  }
}
