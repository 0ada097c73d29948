import { batchReads } from '../foundation/batch-reads.ts';
import { Cache } from '../foundation/cache.ts';
import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import {
  readSendersByRef,
  type Sender,
  type SenderRef,
  senderKey,
  senderTopic,
} from './sender-store.ts';

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
