import type { Quota } from '../../accounts/account/account.ts';
import { CommitFailure } from '../../base/database/group-commit.ts';
import { type EmailAddress, normalizeAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { awaitAll } from '../../base/values/maybe-promise.ts';
import { simulatedOutcome } from '../../base/values/simulated-address.ts';
import {
  type AcceptOutcome,
  type AcceptRow,
  countRecipients,
  rowWithCopies,
} from './accept-row.ts';
import type { CheckedAttachments } from './check-attachments.ts';
import { withoutCc } from './compose-row.ts';
import { type IdempotencyKey, idempotencyInProgress } from './idempotency.ts';
import { findIdempotencyKey } from './idempotency-key-store.ts';
import type { UsageRecord } from './recent-template-usage.ts';
import type { SendDependencies } from './send-dependencies.ts';
import type { StatusLink } from './status-link.ts';
import { withTimeout } from './with-timeout.ts';

/** A message that passed checks 5 to 8. */
export interface CheckedMessage {
  readonly row: AcceptRow;
  readonly attachments: CheckedAttachments | undefined;
  readonly newUsageRecord: UsageRecord | undefined;
  readonly quota: Quota | undefined;
}

/** The 200 response of the send operation. */
export interface Receipt {
  readonly messageId: MessageId;
  readonly suppressedRecipients: readonly string[];
  /** True if an earlier request with this key was accepted, so nothing was sent for this one. */
  readonly replayed: boolean;
  /** Shows the progress of the message, if the request asks for it. */
  readonly statusUrl: string | undefined;
}

/**
 * The quota, and checks 9 and 10: stores the message unless its To recipient is suppressed; suppressed Cc addresses are
 * omitted. A process that ends in between leaves contents of attachments that no message uses, for the sweep.
 * @param deadline when to stop waiting for another request with the same key, in monotonic time
 * @throws Fault QUOTA_EXCEEDED, RECIPIENT_SUPPRESSED, IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS or IO_EXCEPTION
 */
export async function commitMessage(
  dependencies: SendDependencies,
  { row: composed, attachments, newUsageRecord, quota }: CheckedMessage,
  deadline = 0,
): Promise<Receipt> {
  const { acceptor, quotas, usage } = dependencies;
  const { accountId } = composed;
  const refund = quota && (await quotas.spend(accountId, quota, countRecipients(composed)));
  try {
    if (attachments !== undefined)
      await dependencies.attachments.save(accountId, attachments.contents).catch((cause) => {
        throw new Fault('IO_EXCEPTION', { cause });
      });
    const row = withoutSimulated(composed);
    const outcome = await acceptor.accept(row);
    const receipt =
      outcome.kind === 'accepted'
        ? toReceipt(row)
        : await finishCommit(dependencies, row, outcome, deadline);
    if (receipt.replayed) refund?.();
    else if (newUsageRecord !== undefined) usage.record(newUsageRecord);
    return receipt;
  } catch (error) {
    // Messages that aren't stored don't count, unless the outcome is unknown (503).
    if (error instanceof Fault && error.code !== 'IO_EXCEPTION') refund?.();
    throw error;
  }
}

/**
 * Commits messages without keys, from `withoutSimulated`, as `commitMessage` does: with one promise for all of them.
 * @returns the receipt or error of each, in order
 */
export async function commitTogether(
  dependencies: SendDependencies,
  rows: readonly AcceptRow[],
): Promise<readonly (Receipt | CommitFailure)[]> {
  const outcomes = await dependencies.acceptor.acceptAll(rows);
  return awaitAll(
    outcomes.map((outcome, index) => {
      const row = rows[index] as AcceptRow;
      if (outcome instanceof CommitFailure) return outcome;
      if (outcome.kind === 'accepted') return toReceipt(row);
      return finishCommit(dependencies, row, outcome, 0).catch((error) => new CommitFailure(error));
    }),
  );
}

async function finishCommit(
  dependencies: SendDependencies,
  composed: AcceptRow,
  first: AcceptOutcome,
  deadline: number,
): Promise<Receipt> {
  let row = composed;
  let outcome = first;
  while (outcome.kind !== 'accepted') {
    if (outcome.kind === 'suppressed') row = withoutSuppressed(row, outcome.addresses);
    else {
      const stored = await findStoredReceipt(dependencies, row);
      if (stored !== undefined) return stored;
      if (performance.now() >= deadline) throw timeoutFault(row);
    }
    outcome = await dependencies.acceptor.acceptAgain(row);
  }
  return toReceipt(row);
}

function toReceipt({
  id: messageId,
  suppressed: suppressedRecipients,
  status,
}: AcceptRow): Receipt {
  return { messageId, suppressedRecipients, replayed: false, statusUrl: status?.urlOf(messageId) };
}

/**
 * The stored response for a key.
 * @param statusOf reads what an accepted request asks for
 * @returns undefined if no request was accepted with it
 * @throws Fault IDEMPOTENCY_MISMATCH if that request was different
 */
export async function findReplay(
  dependencies: SendDependencies,
  accountId: AccountId,
  key: IdempotencyKey,
  statusOf?: () => StatusLink | undefined,
): Promise<Receipt | undefined> {
  const { kysely } = dependencies.database;
  const stored = await withTimeout(findIdempotencyKey(kysely, accountId, key.text));
  if (stored === undefined) return undefined;
  if (stored.requestHash !== key.requestHash) throw new Fault('IDEMPOTENCY_MISMATCH');
  const { messageId, suppressedRecipients } = stored;
  const statusUrl = statusOf?.()?.urlOf(messageId);
  return { messageId, suppressedRecipients, replayed: true, statusUrl };
}

async function findStoredReceipt(
  dependencies: SendDependencies,
  row: AcceptRow,
): Promise<Receipt | undefined> {
  if (row.key === undefined) return undefined;
  const stored = await findReplay(dependencies, row.accountId, row.key, () => row.status);
  // This request's own message: its first statement committed although the connection broke.
  return stored && { ...stored, replayed: stored.messageId !== row.id };
}

/**
 * The message without addresses in the reserved test domain that are always suppressed.
 * @throws Fault RECIPIENT_SUPPRESSED
 */
export function withoutSimulated(row: AcceptRow): AcceptRow {
  if (!row.recipients.some(isSimulated) && row.copies === undefined) return row;
  const simulated = rowWithCopies(row)
    .flatMap(({ recipients }) => recipients)
    .filter(isSimulated)
    .map(normalizeAddress);
  return simulated.length === 0 ? row : withoutSuppressed(row, simulated);
}

function isSimulated(recipient: EmailAddress): boolean {
  return simulatedOutcome(recipient) === 'suppressed';
}

function withoutSuppressed(row: AcceptRow, addresses: readonly string[]): AcceptRow {
  const rows = rowWithCopies(row);
  const isSuppressed = (address: EmailAddress): boolean =>
    addresses.includes(normalizeAddress(address));
  if (!rows.some(({ recipients: [to] }) => to === undefined || isSuppressed(to)))
    return withoutCcOfAll(row, addresses);
  const suppressedRecipients = rows.flatMap(({ recipients }) => recipients.filter(isSuppressed));
  const statusUrl = row.status?.isPrivate === true ? row.status.urlOf(row.id) : undefined;
  throw new Fault('RECIPIENT_SUPPRESSED', {
    details: [{ field: 'envelope.toAddress', reason: 'is suppressed for this account' }],
    extra: { suppressedRecipients, ...(statusUrl !== undefined && { statusUrl }) },
  });
}

function withoutCcOfAll(row: AcceptRow, addresses: readonly string[]): AcceptRow {
  const head = withoutCc(row, addresses);
  if (row.copies === undefined) return head;
  return { ...head, copies: row.copies.map((copy) => withoutCc(copy, addresses)) };
}

function timeoutFault(row: AcceptRow): Fault {
  return row.key === undefined ? new Fault('IO_EXCEPTION') : idempotencyInProgress();
}
