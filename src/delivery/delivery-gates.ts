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

/** Which recipients get the message now. */
export interface RecipientSelection {
  readonly route: DeliveryRoute;
  /** Results for pending recipients that aren't tried. */
  readonly untried: readonly RecipientResult[];
}

/** The result if the message must not be sent, or not by this process; undefined to continue. */
export function checkMessage(message: ClaimedMessage, lease: Lease): AttemptResult | undefined {
  if (message.canceled) return resultForAll(message, 'canceled', 'canceled manually');
  if (message.expired) return resultExpired(message);
  if (lease.stopping.aborted) return { results: [], notes: [] };
  return undefined;
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
  const untried = [
    ...suppressed,
    ...heldForReview.map(asHeldForReview),
    ...route.heldBack.map(asHeldBack),
    ...route.paused.map(asPaused),
  ];
  return { route, untried };
}

const pausedRecheckMs = 60_000;

/** No recipient can be sent to now. Waiting for a paused destination doesn't count as an attempt. */
export function resultWithoutEnvelope(
  message: ClaimedMessage,
  { route, untried }: RecipientSelection,
): AttemptResult {
  if (untried.length > route.paused.length || message.remainingMs <= 0)
    return { results: untried, notes: [] };
  return postponedResult(message, pausedRecheckMs, pausedReason);
}

/** Without a lookup, mail is unsigned and the sender is the return path. */
export async function findSendingIdentity(
  findIdentity: FindIdentity | undefined,
  message: ClaimedMessage,
  from: EmailAddress,
  recipients: number,
): Promise<SendingIdentity | IdentityProblem> {
  if (findIdentity !== undefined) return await findIdentity(message.accountId, from, recipients);
  return { sign: (raw) => raw, returnPath: () => from };
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
