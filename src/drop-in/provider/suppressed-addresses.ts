import { AccountLimitReached, checkLimits } from '../../accounts/account/account-limit-store.ts';
import { recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import { addressHashKey, auditIdOf } from '../../base/secrets/hash-address.ts';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { normalizeAddress, parseEmailAddress } from '../../base/values/email-address.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import * as store from '../../content/suppression/suppression-store.ts';
import { DropInRefusal } from './drop-in-errors.ts';
import { RequestActions } from './drop-in-request.ts';
import { invalidMember } from './place.ts';

/** @throws Fault VALIDATION_FAILED that names the member */
export function parseSuppressedAddress(text = '', field = 'address'): ComparableAddress {
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return normalizeAddress(parsed.address);
  throw invalidMember(field, 'is not an email address');
}

/** The suppressed addresses of the account of a request. Changes are for one reason or all. */
export class SuppressedAddresses extends RequestActions {
  /** Entries that haven't expired. */
  current<Entry extends Pick<Suppression, 'expiresAt'>>(entries: readonly Entry[]): Entry[] {
    const { now } = this.request;
    return entries.filter(({ expiresAt }) => expiresAt === null || expiresAt.getTime() > now);
  }

  /** The entries of an address. */
  async read(address: ComparableAddress, reason?: SuppressionReason): Promise<Suppression[]> {
    const { kysely, accountId } = this.request;
    const entries = this.current(await store.readSuppressions(kysely, accountId, address));
    return entries.filter((one) => reason === undefined || one.reason === reason);
  }

  /** @throws DropInRefusal CONFLICT if the list is full */
  async add(address: ComparableAddress, reason: SuppressionReason): Promise<void> {
    const { accountId } = this.request;
    await this.#change('suppression_created', address, async (transaction) => {
      const added = await store.addSuppressions(transaction, accountId, [{ address, reason }]);
      if (added > 0) await checkLimits(transaction, accountId, ['suppressions']);
      return added;
    }).catch((error: unknown) => {
      if (!(error instanceof AccountLimitReached)) throw error;
      throw new DropInRefusal('CONFLICT', `${error.message}.`);
    });
  }

  /** @returns false if the address isn't there */
  remove(address: ComparableAddress, reason?: SuppressionReason): Promise<boolean> {
    return this.#change('suppression_removed', address, (transaction) =>
      store.removeSuppression(transaction, this.request.accountId, address, reason),
    );
  }

  /** @param change returns how many entries it changed */
  #change(
    kind: string,
    address: ComparableAddress,
    change: (transaction: DatabaseTransaction) => Promise<number>,
  ): Promise<boolean> {
    const { services, kysely, admission, accountId, origin } = this.request;
    const { clientId } = admission;
    return kysely.transaction().execute(async (transaction) => {
      if ((await change(transaction)) === 0) return false;
      const detail = { id: auditIdOf(addressHashKey(services.key), address), apiKey: clientId };
      await recordAuditEvent(transaction, { kind, accountId, clientId, origin, detail });
      return true;
    });
  }
}
