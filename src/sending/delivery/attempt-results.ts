import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import { erasedAddress, sentNumber } from '../../content/message/message-content.ts';
import type { RenderingTooLarge } from '../../content/rendering/rendering-too-large.ts';
import type { AttemptResult, ClaimedMessage, RecipientResult } from '../queue/attempt.ts';
import { pausedReason } from '../queue/control-store.ts';
import type { IdentityProblem } from './find-identity.ts';
import type { PermanentCause } from './reply-rules.ts';

/** Staging settings: where mail may actually go. */
export interface StagingRules {
  /** Send everything to this address instead. */
  readonly redirect: string | undefined;
  /** Only these domains get mail; empty for all. */
  readonly allow: readonly string[];
}

/** The end of an attempt without notes. */
export function resultOf(
  outcome: RecipientResult['outcome'],
  reason: string,
  more: Omit<RecipientResult, 'outcome' | 'reason'> = {},
): AttemptResult {
  return { result: { outcome, reason, ...more }, notes: [] };
}

/** Nothing was attempted, so the message is deferred without counting an attempt, at most until it expires. */
export function postponedResult(
  message: ClaimedMessage,
  delayMs: number,
  reason: string,
): AttemptResult {
  return { postponed: { delayMs: Math.min(delayMs, message.remainingMs), reason }, notes: [] };
}

/** As `postponedResult`, but a message that would expire before the next attempt expires now. */
export function postponeOrExpire(
  message: ClaimedMessage,
  delayMs: number,
  reason: string,
): AttemptResult {
  if (message.remainingMs <= 0) return resultOf('expired', reason);
  return postponedResult(message, delayMs, reason);
}

/** Permanent: the template version and values are frozen, so a retry would be just as large. */
export function resultTooLarge(error: RenderingTooLarge): AttemptResult {
  const detail = { cause: 'size' satisfies PermanentCause };
  return resultOf('bounced', `it can’t be sent: ${errorText(error)}`, { detail });
}

export function resultUnrenderable(error: unknown): AttemptResult {
  return resultOf('failed', `it can’t be rendered: ${errorText(error)}`);
}

function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}

/** The result if the message must not be sent; undefined to continue. */
export function checkMessage(
  message: ClaimedMessage,
  recipients: readonly EmailAddress[],
): AttemptResult | undefined {
  const { recipient } = message;
  const { [recipient]: address = erasedAddress } = recipients;
  // There is nothing to tell about these.
  if (address === erasedAddress)
    return resultOf('canceled', 'its address has been erased', { recorded: true });
  if (sentNumber(recipients, recipient) !== recipient)
    return resultOf('canceled', 'its address is sent to once', { recorded: true });
  if (message.canceled) return resultOf('canceled', 'canceled manually');
  if (message.expired) {
    const mayBeLate = message.deliverWhenDelayed || message.deadlineAt !== undefined;
    const until = mayBeLate ? 'before it expired' : 'within its freshness window';
    return resultOf('expired', `it could not be delivered ${until}`);
  }
  return undefined;
}

const pausedRecheckMs = 60_000;

/** The result if the recipient gets nothing now; undefined to continue. */
export function checkRecipient(
  message: ClaimedMessage,
  address: EmailAddress,
  { redirect, allow }: StagingRules,
): AttemptResult | undefined {
  if (message.doubtful && message.whenUncertain === 'hold')
    return resultOf(
      'uncertain',
      'it may have been delivered; its template holds such messages for review',
      { recorded: true },
    );
  const domain = domainOf(address);
  // A redirect applies to every recipient, so DELIVERY_ALLOW has no effect then.
  if (redirect === undefined && allow.length > 0 && !allow.includes(domain))
    return resultOf('canceled', 'held back by DELIVERY_ALLOW');
  if (message.pausedDestinations.includes(domain))
    return postponeOrExpire(message, pausedRecheckMs, pausedReason);
  return undefined;
}

/** Delay before a message is rechecked while its sender isn't ready. */
const problemRecheckMs = 300_000;

/** The sender isn't ready: the message waits unless it has expired. */
export function waitForSender(
  message: ClaimedMessage,
  { problem, delayMs = problemRecheckMs }: IdentityProblem,
): AttemptResult {
  if (message.remainingMs <= 0) return resultOf('expired', problem);
  return postponedResult(message, delayMs, `waiting: ${problem}`);
}
