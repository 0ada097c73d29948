import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import type { RenderingTooLarge } from '../../content/rendering/rendering-too-large.ts';
import type { AttemptResult, ClaimedMessage, Lease, RecipientResult } from '../queue/attempt.ts';
import { canceledReason, pausedReason } from '../queue/control-store.ts';
import type { IdentityProblem } from './find-identity.ts';
import type { PermanentCause } from './reply-rules.ts';

/** Staging settings: where mail may actually go. */
export interface StagingRules {
  /** Send everything to this address instead. */
  readonly redirect: string | undefined;
  /** Only these domains get mail; empty for all. */
  readonly allow: readonly string[];
}

export interface DeliveryRoute {
  /** Envelope address to the recipients it stands for. */
  readonly envelope: ReadonlyMap<string, readonly number[]>;
  /** Recipients excluded by DELIVERY_ALLOW. */
  readonly heldBack: readonly number[];
  /** Recipients on domains that the account has paused. */
  readonly paused: readonly number[];
  readonly redirected: boolean;
}

/**
 * Maps recipients to envelope addresses; recipients with the same address share a transaction. A redirect applies to every
 * recipient, so DELIVERY_ALLOW has no effect then.
 */
function routeRecipients(
  recipients: readonly EmailAddress[],
  pending: readonly number[],
  rules: StagingRules,
  pausedDestinations: readonly string[] = [],
): DeliveryRoute {
  const envelope = new Map<string, number[]>();
  const heldBack: number[] = [];
  const paused: number[] = [];
  for (const recipient of pending) {
    const address = recipients[recipient];
    if (address === undefined) continue;
    if (rules.redirect === undefined && !mayReceive(address, rules.allow)) {
      heldBack.push(recipient);
      continue;
    }
    if (pausedDestinations.includes(domainOf(address))) {
      paused.push(recipient);
      continue;
    }
    const target = rules.redirect ?? address;
    envelope.set(target, [...(envelope.get(target) ?? []), recipient]);
  }
  return { envelope, heldBack, paused, redirected: rules.redirect !== undefined };
}

function mayReceive(address: EmailAddress, allow: readonly string[]): boolean {
  return allow.length === 0 || allow.includes(domainOf(address));
}

/** The result of an attempt without notes. */
export function withResults(results: readonly RecipientResult[]): AttemptResult {
  return { results, notes: [] };
}

/** The same outcome for every pending recipient. */
export function resultForAll(
  { pending }: ClaimedMessage,
  outcome: 'bounced' | 'canceled' | 'expired' | 'failed',
  reason: string,
  more: Pick<RecipientResult, 'detail'> = {},
): AttemptResult {
  return withResults(pending.map((recipient) => ({ recipient, outcome, reason, ...more })));
}

/** Nothing was attempted, so the message is deferred without counting an attempt, at most until it expires. */
export function postponedResult(
  message: ClaimedMessage,
  delayMs: number,
  reason: string,
): AttemptResult {
  const postponed = { delayMs: Math.min(delayMs, message.remainingMs), reason };
  return { ...withResults([]), postponed };
}

/** Permanent: the template version and values are frozen, so a retry would be just as large. */
export function resultTooLarge(message: ClaimedMessage, error: RenderingTooLarge): AttemptResult {
  const detail = { cause: 'size' satisfies PermanentCause };
  return resultForAll(message, 'bounced', `it can’t be sent: ${errorText(error)}`, { detail });
}

export function resultUnrenderable(message: ClaimedMessage, error: unknown): AttemptResult {
  return resultForAll(message, 'failed', `it can’t be rendered: ${errorText(error)}`);
}

function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}

/** The result if the message must not be sent, or not by this process; undefined to continue. */
export function checkMessage(message: ClaimedMessage, lease: Lease): AttemptResult | undefined {
  if (message.canceled) return resultForAll(message, 'canceled', canceledReason);
  if (message.expired) {
    const mayBeLate = message.deliverWhenDelayed || message.deadlineAt !== undefined;
    const until = mayBeLate ? 'before it expired' : 'within its freshness window';
    return resultForAll(message, 'expired', `it could not be delivered ${until}`);
  }
  return lease.stopping.aborted ? withResults([]) : undefined;
}

/** Which recipients get the message now. */
export interface RecipientSelection {
  readonly route: DeliveryRoute;
  /** Results for pending recipients that aren't tried. */
  readonly untried: readonly RecipientResult[];
}

/** Excludes recipients that are suppressed, held for review, outside DELIVERY_ALLOW or on a paused domain. */
export function selectRecipients(
  message: ClaimedMessage,
  recipients: readonly EmailAddress[],
  staging: StagingRules,
  suppressed: readonly RecipientResult[],
): RecipientSelection {
  const heldForReview = message.whenUncertain === 'hold' ? message.doubtful : [];
  const left = new Set([...heldForReview, ...suppressed.map(({ recipient }) => recipient)]);
  const pending =
    left.size === 0 ? message.pending : message.pending.filter((recipient) => !left.has(recipient));
  const route = routeRecipients(recipients, pending, staging, message.pausedDestinations);
  const as = (numbers: readonly number[], result: Omit<RecipientResult, 'recipient'>) =>
    numbers.map((recipient) => ({ recipient, ...result }));
  const untried = [
    ...suppressed,
    ...as(heldForReview, {
      outcome: 'uncertain',
      reason: 'it may have been delivered; its template holds such messages for review',
      recorded: true,
    }),
    ...as(route.heldBack, { outcome: 'canceled', reason: 'held back by DELIVERY_ALLOW' }),
    ...as(route.paused, {
      outcome: 'deferred',
      reason: pausedReason,
      retry: 'ordinary',
      recorded: true,
    }),
  ];
  return { route, untried };
}

const pausedRecheckMs = 60_000;

/** No recipient can be sent to now. Waiting for a paused destination doesn't count as an attempt. */
export function resultWithoutEnvelope(
  message: ClaimedMessage,
  { route, untried }: RecipientSelection,
): AttemptResult {
  if (untried.length > route.paused.length || message.remainingMs <= 0) return withResults(untried);
  return postponedResult(message, pausedRecheckMs, pausedReason);
}

/** Delay before a message is rechecked while its sender isn't ready. */
const problemRecheckMs = 300_000;

/** The sender isn't ready: the message waits unless it has expired. */
export function waitForSender(
  message: ClaimedMessage,
  { problem, delayMs = problemRecheckMs }: IdentityProblem,
): AttemptResult {
  if (message.remainingMs <= 0) return resultForAll(message, 'expired', problem);
  return postponedResult(message, delayMs, `waiting: ${problem}`);
}
