import { type EmailAddress, needsSmtpUtf8 } from '../foundation/email-address.ts';
import type { AttemptResult, ClaimedMessage, RecipientResult } from '../queue/attempt.ts';
import { postponedResult, resultForAll } from './attempt-results.ts';
import type { DeferBacklog } from './defer-backlog.ts';
import type { RecipientSelection } from './delivery-gates.ts';
import type { DeliveryRoute } from './route-recipients.ts';
import type { MailOutline, Postponement, SendingAdmission, Transport } from './transport.ts';

/**
 * Admits recipients that need SMTPUTF8 separately: a server without the extension rejects the whole transaction (RFC
 * 6531 section 3.2), and the other recipients must not be affected.
 */
export async function admitMail(
  transport: Transport,
  outline: MailOutline,
): Promise<SendingAdmission> {
  const international = outline.to.filter(addressNeedsSmtpUtf8);
  if (international.length === 0 || international.length === outline.to.length)
    return await transport.admit(outline);
  const plain = outline.to.filter((address) => !addressNeedsSmtpUtf8(address));
  const first = await transport.admit({ ...outline, to: plain });
  const second = await transport.admit({ ...outline, to: international });
  return {
    transactions: [...first.transactions, ...second.transactions],
    postponed: [...first.postponed, ...second.postponed],
  };
}

export function addressNeedsSmtpUtf8(address: string): boolean {
  return needsSmtpUtf8(address as EmailAddress);
}

/** Nothing can be sent now. This doesn't count as an attempt unless the message would expire before the next one. */
export function postponeMessage(
  message: ClaimedMessage,
  { postponed }: SendingAdmission,
  { route, untried }: RecipientSelection,
): AttemptResult {
  const [soonest] = [...postponed].sort((one, other) => one.delayMs - other.delayMs);
  if (soonest === undefined) return { results: untried, notes: [] };
  if (message.remainingMs <= 0) return resultForAll(message, 'expired', soonest.reason);
  if (untried.length > 0)
    return { results: [...untried, ...deferredResults(postponed, route)], notes: [] };
  return postponedResult(message, soonest.delayMs, soonest.reason);
}

/** Results for recipients that are deferred while others of the same message are sent. */
export function deferredResults(
  postponed: readonly Postponement[],
  route: DeliveryRoute,
): RecipientResult[] {
  return postponed.flatMap(({ to, delayMs, reason }) =>
    to
      .flatMap((address) => route.envelope.get(address) ?? [])
      .map((recipient) => ({
        recipient,
        outcome: 'deferred' as const,
        reason,
        retry: 'connection' as const,
        retryAfter: Math.ceil(delayMs / 1_000),
      })),
  );
}

/** Reports backlogs that are too large to check message by message. */
export function reportBacklogs(
  deferBacklog: DeferBacklog,
  { accountId, transactional }: ClaimedMessage,
  { postponed }: SendingAdmission,
): void {
  for (const { to, backlog } of postponed) {
    const [first] = to;
    if (backlog === undefined || first === undefined) continue;
    const domain = first.slice(first.lastIndexOf('@') + 1).toLowerCase();
    deferBacklog({ accountId, domain, transactional }, backlog);
  }
}
