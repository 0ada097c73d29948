import type { AttemptResult, ClaimedMessage, RecipientResult } from '../queue/attempt.ts';
import { pausedReason } from '../queue/release-paused-store.ts';
import type { RenderingTooLarge } from '../rendering/rendering-too-large.ts';
import type { PermanentCause } from './reply-rules.ts';

/** The same outcome for every pending recipient. */
export function resultForAll(
  message: ClaimedMessage,
  outcome: 'canceled' | 'expired' | 'failed',
  reason: string,
): AttemptResult {
  return {
    results: message.pending.map((recipient) => ({ recipient, outcome, reason })),
    notes: [],
  };
}

/** Nothing was attempted, so the message is deferred without counting an attempt, at most until it expires. */
export function postponedResult(
  message: ClaimedMessage,
  delayMs: number,
  reason: string,
): AttemptResult {
  const postponed = { delayMs: Math.min(delayMs, message.remainingMs), reason };
  return { results: [], notes: [], postponed };
}

/** Permanent: the template version and values are frozen, so a retry would be just as large. */
export function resultTooLarge(message: ClaimedMessage, error: RenderingTooLarge): AttemptResult {
  const reason = `it can’t be sent: ${errorText(error)}`;
  return {
    results: message.pending.map((recipient) => ({
      recipient,
      outcome: 'bounced',
      reason,
      detail: { cause: 'size' satisfies PermanentCause },
    })),
    notes: [],
  };
}

export function resultUnrenderable(message: ClaimedMessage, error: unknown): AttemptResult {
  return resultForAll(message, 'failed', `it can’t be rendered: ${errorText(error)}`);
}

export function resultExpired(message: ClaimedMessage): AttemptResult {
  const reason =
    message.deliverWhenDelayed || message.deadlineAt !== undefined
      ? 'it could not be delivered before it expired'
      : 'it could not be delivered within its freshness window';
  return resultForAll(message, 'expired', reason);
}

export function asHeldForReview(recipient: number): RecipientResult {
  return {
    recipient,
    outcome: 'uncertain',
    reason: 'it may have been delivered; its template holds such messages for review',
    recorded: true,
  };
}

export function asHeldBack(recipient: number): RecipientResult {
  return { recipient, outcome: 'canceled', reason: 'held back by DELIVERY_ALLOW' };
}

export function asPaused(recipient: number): RecipientResult {
  return {
    recipient,
    outcome: 'deferred',
    reason: pausedReason,
    retry: 'ordinary',
    recorded: true,
  };
}

function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
