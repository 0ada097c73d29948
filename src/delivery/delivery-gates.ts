import type { EmailAddress } from '../foundation/email-address.ts';
import type { AttemptResult, ClaimedMessage, Lease, RecipientResult } from '../queue/attempt.ts';
import { pausedReason } from '../queue/release-paused-store.ts';
import {
  asHeldBack,
  asHeldForReview,
  asPaused,
  postponedResult,
  resultExpired,
  resultForAll,
} from './attempt-results.ts';
import { type DeliveryRoute, routeRecipients, type StagingRules } from './route-recipients.ts';
import type { FindIdentity, IdentityProblem, SendingIdentity } from './sending-identity.ts';

/** Who gets the message now. */
export interface RecipientSelection {
  readonly route: DeliveryRoute;
  /** Results of the pending recipients that don't. */
  readonly untried: readonly RecipientResult[];
}

/** The result of a message that must not be sent any more, or not by this process; undefined: go on. */
export function checkMessage(message: ClaimedMessage, lease: Lease): AttemptResult | undefined {
  if (message.canceled) return resultForAll(message, 'canceled', 'canceled by hand');
  if (message.expired) return resultExpired(message);
  if (lease.stopping.aborted) return { results: [], notes: [] };
  return undefined;
}

/** Sorts out recipients that wait for a review, are outside DELIVERY_ALLOW or have a paused domain. */
export function selectRecipients(
  message: ClaimedMessage,
  recipients: readonly EmailAddress[],
  staging: StagingRules,
): RecipientSelection {
  const heldForReview = message.whenUncertain === 'hold' ? message.doubtful : [];
  const pending = message.pending.filter((recipient) => !heldForReview.includes(recipient));
  const route = routeRecipients(recipients, pending, staging, message.pausedDestinations);
  const untried = [
    ...heldForReview.map(asHeldForReview),
    ...route.heldBack.map(asHeldBack),
    ...route.paused.map(asPaused),
  ];
  return { route, untried };
}

const pausedRecheckMs = 60_000;

/** Nobody is left to send to now. Waiting for a paused destination counts as no attempt. */
export function resultWithoutEnvelope(
  message: ClaimedMessage,
  { route, untried }: RecipientSelection,
): AttemptResult {
  if (untried.length > route.paused.length || message.remainingMs <= 0)
    return { results: untried, notes: [] };
  return postponedResult(message, pausedRecheckMs, pausedReason);
}

/** Without a look-up, mail is unsigned and has its sender as return path. */
export async function findSendingIdentity(
  findIdentity: FindIdentity | undefined,
  message: ClaimedMessage,
  from: EmailAddress,
): Promise<SendingIdentity | IdentityProblem> {
  if (findIdentity !== undefined) return await findIdentity(message.accountId, from);
  return { sign: (raw) => raw, returnPath: () => from };
}

/** How long a message waits for its sender to be fixed before the next check. */
const problemRecheckMs = 300_000;

/** The sender isn't ready: the message waits, unless its time is over. */
export function waitForSender(
  message: ClaimedMessage,
  { problem, delayMs = problemRecheckMs }: IdentityProblem,
): AttemptResult {
  if (message.remainingMs <= 0) return resultForAll(message, 'expired', problem);
  return postponedResult(message, delayMs, `waiting: ${problem}`);
}
