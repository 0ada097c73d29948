import { type EmailAddress, needsSmtpUtf8 } from '../../base/values/email-address.ts';
import type { AttemptResult, ClaimedMessage, RecipientResult } from '../queue/attempt.ts';
import {
  type DeliveryRoute,
  postponedResult,
  type RecipientSelection,
  resultForAll,
  withResults,
} from './attempt-results.ts';
import type { DeferBacklog } from './defer-backlog.ts';
import {
  type AdmittedTransaction,
  type MailOutline,
  type Postponement,
  type SendingAdmission,
  type Transport,
  withoutServer,
} from './transport.ts';

/**
 * Admits a message, with a transaction for each separate recipient.
 * @param separate Bcc addresses: a server may write the recipients of a transaction into the text that it stores
 */
export async function admitMail(
  transport: Transport,
  outline: MailOutline,
  separate: readonly string[] = [],
): Promise<SendingAdmission> {
  if (separate.length === 0 || outline.to.length === 1)
    return await admitTogether(transport, outline);
  const alone = outline.to.filter((address) => separate.includes(address));
  const together = outline.to.filter((address) => !separate.includes(address));
  const transactions: AdmittedTransaction[] = [];
  const postponed: Postponement[] = [];
  for (const to of [together, ...alone.map((address) => [address])]) {
    if (to.length === 0) continue;
    const part = { ...outline, to };
    if (transactions.length > 0) {
      transactions.push(admitLater(transport, part));
      continue;
    }
    const admitted = await admitTogether(transport, part);
    transactions.push(...admitted.transactions);
    postponed.push(...admitted.postponed);
  }
  return { transactions, postponed };
}

/** Asks for permission only when it is this message's turn, so that it never waits for a slot that it holds itself. */
export function admitLater(transport: Transport, outline: MailOutline): AdmittedTransaction {
  return {
    to: outline.to,
    cancel: () => undefined,
    async send(mail, releaseDot, stopping) {
      const { transactions, postponed } = await admitTogether(transport, outline);
      const [transaction] = transactions;
      if (transaction !== undefined) return await transaction.send(mail, releaseDot, stopping);
      const text = postponed[0]?.reason ?? 'sending is limited';
      return withoutServer({ kind: 'fault', stage: 'connect', fault: 'limit', text });
    },
  };
}

/**
 * Admits recipients that need SMTPUTF8 separately: a server without the extension rejects the whole transaction (RFC
 * 6531 section 3.2), and the other recipients must not be affected.
 */
async function admitTogether(
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
  if (soonest === undefined) return withResults(untried);
  if (message.remainingMs <= 0) return resultForAll(message, 'expired', soonest.reason);
  if (untried.length > 0) return withResults([...untried, ...deferredResults(postponed, route)]);
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
