import { AccountLimitReached, checkLimits } from '../../accounts/account/account-limit-store.ts';
import { recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import { addressHashKey, auditIdOf } from '../../base/secrets/hash-address.ts';
import {
  type ComparableAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../base/values/email-address.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import {
  addSuppressions,
  readSuppressions,
  removeSuppression,
} from '../../content/suppression/suppression-store.ts';
import { DropInRefusal, type DropInRequest } from './drop-in.ts';
import { invalidMember } from './members.ts';

/** @throws Fault VALIDATION_FAILED that names the member */
export function parseSuppressedAddress(text: string | undefined, field: string): ComparableAddress {
  const parsed = parseEmailAddress(text ?? '');
  if (parsed.ok) return normalizeAddress(parsed.address);
  throw invalidMember(field, 'is not an email address');
}

/** The entries of an address, for one reason or all; those that have expired count as absent. */
export async function readSuppressedAddress(
  request: DropInRequest,
  address: ComparableAddress,
  reason?: SuppressionReason,
): Promise<Suppression[]> {
  const { services, admission } = request;
  const { kysely } = services.database;
  const entries = await readSuppressions(kysely, admission.account.id, address);
  return current(request, entries).filter((one) => reason === undefined || one.reason === reason);
}

/** Entries that haven't expired. */
export function current<Entry extends Pick<Suppression, 'expiresAt'>>(
  { services }: DropInRequest,
  entries: readonly Entry[],
): Entry[] {
  const now = services.clock.now();
  return entries.filter(({ expiresAt }) => expiresAt === null || expiresAt.getTime() > now);
}

/** Suppresses an address for the account. @throws DropInRefusal CONFLICT if its list is full */
export async function suppressAddress(
  request: DropInRequest,
  address: ComparableAddress,
  reason: SuppressionReason,
): Promise<void> {
  const accountId = request.admission.account.id;
  try {
    await inTransaction(request, async (transaction) => {
      if ((await addSuppressions(transaction, accountId, [{ address, reason }])) === 0) return;
      await checkLimits(transaction, accountId, ['suppressions']);
      await record(request, transaction, 'suppression_created', address);
    });
  } catch (error) {
    if (!(error instanceof AccountLimitReached)) throw error;
    throw new DropInRefusal('CONFLICT', `${error.message}.`);
  }
}

/** Removes an address from the account's list, for one reason or all. @returns false if it isn't there */
export function allowAddress(
  request: DropInRequest,
  address: ComparableAddress,
  reason?: SuppressionReason,
): Promise<boolean> {
  const accountId = request.admission.account.id;
  return inTransaction(request, async (transaction) => {
    const removed = await removeSuppression(transaction, accountId, address, reason);
    if (removed > 0) await record(request, transaction, 'suppression_removed', address);
    return removed > 0;
  });
}

function inTransaction<Result>(
  { services }: DropInRequest,
  work: (transaction: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return services.database.kysely.transaction().execute(work);
}

function record(
  { services, admission, origin }: DropInRequest,
  transaction: DatabaseTransaction,
  kind: string,
  address: ComparableAddress,
): Promise<void> {
  return recordAuditEvent(transaction, {
    kind,
    accountId: admission.account.id,
    clientId: admission.clientId,
    origin,
    detail: {
      id: auditIdOf(addressHashKey(services.key), address),
      apiKey: admission.clientId,
    },
  });
}
