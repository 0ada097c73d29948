import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { normaliseAddress } from '../foundation/email-address.ts';
import { Fault } from '../foundation/errors.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';
import { simulatedOutcome } from '../foundation/simulated-address.ts';
import type { Acceptor } from './accept-messages.ts';
import type { AcceptRow } from './accept-row.ts';
import { withoutCc } from './compose-row.ts';
import { type IdempotencyKey, stillUnderWay } from './idempotency.ts';
import { findIdempotencyKey } from './idempotency-key-store.ts';
import { inTime } from './in-time.ts';

export interface CommitParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly acceptor: Pick<Acceptor, 'accept' | 'acceptAgain'>;
}

/** The 200 of the send operation. */
export interface Receipt {
  readonly messageId: MessageId;
  readonly suppressedRecipients: readonly string[];
  /** An earlier request with this key was accepted; nothing was sent for this one. */
  readonly replayed: boolean;
}

/**
 * Checks 9 and 10: stores the message unless its To recipient is suppressed; suppressed Cc addresses are left out.
 * @param deadline when to give up waiting for somebody else's request with the same key, by the monotonic clock
 * @throws Fault RECIPIENT_SUPPRESSED, IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS or IO_EXCEPTION
 */
export async function commitMessage(
  parts: CommitParts,
  composed: AcceptRow,
  deadline: number,
): Promise<Receipt> {
  const simulated = simulatedSuppressions(composed);
  let row = simulated.length === 0 ? composed : withoutSuppressed(composed, simulated);
  let outcome = await parts.acceptor.accept(row);
  while (outcome.kind !== 'accepted') {
    if (outcome.kind === 'suppressed') row = withoutSuppressed(row, outcome.addresses);
    else {
      const known = await knownReceipt(parts, row);
      if (known !== undefined) return known;
      if (performance.now() >= deadline) throw gaveUp(row);
    }
    outcome = await parts.acceptor.acceptAgain(row);
  }
  return { messageId: row.id, suppressedRecipients: row.suppressed, replayed: false };
}

/**
 * The answer that a key already has.
 * @returns undefined where no request was accepted with it
 * @throws Fault IDEMPOTENCY_MISMATCH where that was another request
 */
export async function replayOf(
  parts: CommitParts,
  accountId: AccountId,
  key: IdempotencyKey,
): Promise<Receipt | undefined> {
  const { kysely } = parts.database;
  const known = await inTime(findIdempotencyKey(kysely, accountId, key.text, parts.clock.offset));
  if (known === undefined) return undefined;
  if (known.requestHash !== key.requestHash) throw new Fault('IDEMPOTENCY_MISMATCH');
  const { messageId, suppressedRecipients } = known;
  return { messageId, suppressedRecipients, replayed: true };
}

async function knownReceipt(parts: CommitParts, row: AcceptRow): Promise<Receipt | undefined> {
  if (row.key === undefined) return undefined;
  const known = await replayOf(parts, row.accountId, row.key);
  // The message of this very request: its first statement went through although its connection broke.
  return known && { ...known, replayed: known.messageId !== row.id };
}

/** Addresses of the reserved test domain that are always suppressed, in the spelling for comparing. */
function simulatedSuppressions(row: AcceptRow): string[] {
  return row.recipients
    .filter((recipient) => simulatedOutcome(recipient) === 'suppressed')
    .map(normaliseAddress);
}

function withoutSuppressed(row: AcceptRow, addresses: readonly string[]): AcceptRow {
  const [to] = row.recipients;
  if (to !== undefined && !addresses.includes(normaliseAddress(to)))
    return withoutCc(row, addresses);
  const suppressedRecipients = row.recipients.filter((recipient) =>
    addresses.includes(normaliseAddress(recipient)),
  );
  throw new Fault('RECIPIENT_SUPPRESSED', {
    details: [{ field: 'envelope.toAddress', reason: 'is suppressed for this account' }],
    extra: { suppressedRecipients },
  });
}

function gaveUp(row: AcceptRow): Fault {
  return row.key === undefined ? new Fault('IO_EXCEPTION') : stillUnderWay();
}
