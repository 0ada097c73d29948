import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import { seal, sealedColumn, unsealAny } from '../../base/secrets/seal.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { type DkimAlgorithm, type DkimKey, dkimRecord, readDkimKey } from './dkim-key.ts';
import type { DkimKeyState, PublicDkimKey } from './sending-domain.ts';
import { announceDomain } from './sending-domain-store.ts';

const dkimPurpose = 'dkim keys';

/** Re-encrypted when the master key is rotated. */
export const sealedDkimKeys = sealedColumn({
  purpose: dkimPurpose,
  table: 'dkim_key',
  rowKey: ['account_id', 'domain', 'selector'],
  column: 'private_key',
});

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
    const sealed = seal(this.#keys.current, sealContext(accountId, domain, selector), der);
    await run(transaction)`
      insert into dkim_key (account_id, domain, selector, algorithm, private_key, record)
      values (${accountId}, ${domain}, ${selector}, ${algorithm}, ${sealed}, ${dkimRecord(privateKey)})`;
  }

  /** The keys of a domain without private keys, oldest first. */
  async list(kysely: Kysely, accountId: AccountId, domain: string): Promise<PublicDkimKey[]> {
    return allRows<PublicDkimKey>(kysely)`
      select selector, algorithm, record, state, state_at as "stateAt" from dkim_key
      where account_id = ${accountId} and domain = ${domain} order by created_at, selector`;
  }

  /**
   * The active signing keys of a domain.
   * @throws Error if one can't be decrypted
   */
  async readSigningKeys(kysely: Kysely, accountId: AccountId, domain: string): Promise<DkimKey[]> {
    // RSA first, because every receiving server supports it.
    const rows = await allRows<{ selector: string; sealed: Buffer }>(kysely)`
      select selector, private_key as sealed from dkim_key
      where account_id = ${accountId} and domain = ${domain} and state = 'active'
      order by algorithm desc, selector`;
    return rows.map(({ selector, sealed }) => {
      const der = unsealAny(this.#keys, sealContext(accountId, domain, selector), sealed);
      const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      return readDkimKey(domain, selector, privateKey);
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
    await run(transaction)`
      update dkim_key set state = ${state}, state_at = now()
      where account_id = ${accountId} and domain = ${domain} and selector = any (${selectors}::text[])`;
    await announceDomain(transaction, accountId, domain);
  }

  /** Removes keys retired before the given time. */
  async removeRetired(
    transaction: Kysely,
    accountId: AccountId,
    domain: string,
    before: Date,
  ): Promise<void> {
    await run(transaction)`
      delete from dkim_key
      where account_id = ${accountId} and domain = ${domain} and state = 'retired' and state_at < ${before}`;
  }
}

function sealContext(accountId: AccountId, domain: string, selector: string): string {
  return `${accountId}/${domain}/${selector}`;
}
