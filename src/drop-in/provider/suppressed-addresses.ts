import { AccountLimitReached, checkLimits } from '../../accounts/account/account-limit-store.ts';
import { recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import { addressHashKey, auditIdOf } from '../../base/secrets/hash-address.ts';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { normalizeAddress, parseEmailAddress } from '../../base/values/email-address.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import * as store from '../../content/suppression/suppression-store.ts';
import type { DropInRequest } from './drop-in.ts';
import { DropInRefusal } from './drop-in-errors.ts';
import { invalidMember } from './place.ts';

/** @throws Fault VALIDATION_FAILED that names the member */
export function parseAddress(text = '', field = 'address'): ComparableAddress {
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return normalizeAddress(parsed.address);
  throw invalidMember(field, 'is not an email address');
}

/** Entries that haven't expired. */
export function current<Entry extends Pick<Suppression, 'expiresAt'>>(
  { now }: DropInRequest,
  entries: readonly Entry[],
): Entry[] {
  return entries.filter(({ expiresAt }) => expiresAt === null || expiresAt.getTime() > now);
}

/** An address, for one reason or all. */
interface Target {
  readonly address: ComparableAddress;
  readonly reason?: SuppressionReason;
}

/** The entries of an address. */
export async function readEntries(request: DropInRequest, { address, reason }: Target) {
  const { kysely, accountId } = request;
  const entries = current(request, await store.readSuppressions(kysely, accountId, address));
  return entries.filter((one) => reason === undefined || one.reason === reason);
}

/** @throws DropInRefusal CONFLICT if the list is full */
export async function add(request: DropInRequest, entry: Required<Target>): Promise<void> {
  const { accountId } = request;
  await change(request, 'suppression_created', entry, async (transaction) => {
    const added = await store.addSuppressions(transaction, accountId, [entry]);
    if (added > 0) await checkLimits(transaction, accountId, ['suppressions']);
    return added;
  }).catch((error: unknown) => {
    if (!(error instanceof AccountLimitReached)) throw error;
    throw new DropInRefusal('CONFLICT', `${error.message}.`);
  });
}

/** @returns false if the address isn't there */
export function remove(request: DropInRequest, target: Target): Promise<boolean> {
  return change(request, 'suppression_removed', target, (transaction) =>
    store.removeSuppression(transaction, request.accountId, target.address, target.reason),
  );
}

/** @param work returns how many entries it changed */
function change(
  { services, kysely, admission: { clientId }, accountId, origin }: DropInRequest,
  kind: string,
  { address }: Target,
  work: (transaction: DatabaseTransaction) => Promise<number>,
): Promise<boolean> {
  return kysely.transaction().execute(async (transaction) => {
    if ((await work(transaction)) === 0) return false;
    const detail = { id: auditIdOf(addressHashKey(services.key), address), apiKey: clientId };
    await recordAuditEvent(transaction, { kind, accountId, clientId, origin, detail });
    return true;
  });
}
