import { createPrivateKey, type KeyObject } from 'node:crypto';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import type { PurposeKeys } from '../foundation/purpose-keys.ts';
import { type SealedColumn, seal, unseal, unsealAny } from '../foundation/seal.ts';
import { type DkimAlgorithm, type DkimKey, dkimRecord, readDkimKey } from './dkim-key.ts';
import type { DkimKeyState, PublicDkimKey } from './sending-domain.ts';
import { domainKey, domainTopic } from './sending-domain-store.ts';

type Kysely = Database['kysely'];

const dkimPurpose = 'dkim keys';

/** Re-encrypted when the master key is rotated. */
export const sealedDkimKeys: SealedColumn = {
  purpose: dkimPurpose,
  table: 'dkim_key',
  rowKey: ['account_id', 'domain', 'selector'],
  column: 'private_key',
  seal: (key, row, secret) => seal(key, row.join('/'), secret),
  unseal: (key, row, sealed) => unseal(key, row.join('/'), sealed),
};

/** DKIM keys. Private keys are encrypted with the installation's key and bound to their row. */
export class DkimKeyStore {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor(dkimPurpose);
  }

  async add(
    transaction: Kysely,
    accountId: AccountId,
    domain: string,
    selector: string,
    algorithm: DkimAlgorithm,
    privateKey: KeyObject,
  ): Promise<void> {
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    await transaction
      .insertInto('dkim_key')
      .values({
        account_id: accountId,
        domain,
        selector,
        algorithm,
        private_key: seal(this.#keys.current, sealContext(accountId, domain, selector), der),
        record: dkimRecord(privateKey),
      })
      .execute();
  }

  /** The keys of a domain without private keys, oldest first. */
  async list(kysely: Kysely, accountId: AccountId, domain: string): Promise<PublicDkimKey[]> {
    const rows = await kysely
      .selectFrom('dkim_key')
      .select(['selector', 'algorithm', 'record', 'state', 'state_at'])
      .where('account_id', '=', accountId)
      .where('domain', '=', domain)
      .orderBy('created_at')
      .orderBy('selector')
      .execute();
    return rows.map((row) => ({
      selector: row.selector,
      algorithm: row.algorithm as DkimAlgorithm,
      record: row.record,
      state: row.state as DkimKeyState,
      stateAt: row.state_at,
    }));
  }

  /**
   * The active signing keys of a domain.
   * @throws Error if one can't be decrypted
   */
  async readSigningKeys(kysely: Kysely, accountId: AccountId, domain: string): Promise<DkimKey[]> {
    const rows = await kysely
      .selectFrom('dkim_key')
      .select(['selector', 'private_key'])
      .where('account_id', '=', accountId)
      .where('domain', '=', domain)
      .where('state', '=', 'active')
      // RSA first, because every receiving server supports it.
      .orderBy('algorithm', 'desc')
      .orderBy('selector')
      .execute();
    return rows.map(({ selector, private_key: sealed }) => {
      const der = unsealAny(this.#keys, sealContext(accountId, domain, selector), sealed);
      return readDkimKey(
        domain,
        selector,
        createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
      );
    });
  }

  /** Changes the state of keys and notifies all nodes at commit. */
  async setState(
    transaction: Kysely,
    accountId: AccountId,
    domain: string,
    selectors: readonly string[],
    state: DkimKeyState,
  ): Promise<void> {
    if (selectors.length === 0) return;
    await transaction
      .updateTable('dkim_key')
      .set({ state, state_at: new Date() })
      .where('account_id', '=', accountId)
      .where('domain', '=', domain)
      .where('selector', 'in', [...selectors])
      .execute();
    await announceChange(transaction, domainTopic, domainKey(accountId, domain));
  }

  /** Notifies all nodes of a changed domain at commit. */
  async announce(transaction: Kysely, accountId: AccountId, domain: string): Promise<void> {
    await announceChange(transaction, domainTopic, domainKey(accountId, domain));
  }

  /** Removes keys retired before the given time. @returns their selectors */
  async removeRetired(
    transaction: Kysely,
    accountId: AccountId,
    domain: string,
    before: Date,
  ): Promise<string[]> {
    const rows = await transaction
      .deleteFrom('dkim_key')
      .where('account_id', '=', accountId)
      .where('domain', '=', domain)
      .where('state', '=', 'retired')
      .where('state_at', '<', before)
      .returning('selector')
      .execute();
    return rows.map(({ selector }) => selector);
  }
}

function sealContext(accountId: AccountId, domain: string, selector: string): string {
  return `${accountId}/${domain}/${selector}`;
}
