import { domainOf, type EmailAddress, needsSmtpUtf8 } from '../foundation/email-address.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { TurnQueue } from '../foundation/turn-queue.ts';
import {
  type MessageContent,
  readContent,
  recipientsOf,
  secretFieldsOf,
} from '../message/message-content.ts';
import type {
  Attempt,
  AttemptNote,
  AttemptResult,
  ClaimedMessage,
  Lease,
  RecipientResult,
} from '../queue/attempt.ts';
import { pausedReason } from '../queue/release-paused-store.ts';
import { RenderingTooLarge } from '../rendering/rendering-too-large.ts';
import type { DeferBacklog } from './defer-backlog.ts';
import {
  type DecorateMail,
  type FindVersion,
  type PreparedMail,
  prepareMail,
  redirectHeader,
} from './prepare-mail.ts';
import type { PermanentCause } from './reply-rules.ts';
import { type DeliveryRoute, routeRecipients, type StagingRules } from './route-recipients.ts';
import { sendTransactions } from './send-transactions.ts';
import type {
  AdmittedTransaction,
  MailOutline,
  Postponement,
  SendingAdmission,
  TransactionResult,
  Transport,
} from './transport.ts';

export interface DeliveryDependencies {
  readonly findVersion: FindVersion;
  readonly transport: Transport;
  readonly staging: StagingRules;
  readonly decorate?: DecorateMail | undefined;
  readonly log: Log;
  /** Told where more messages wait for a destination than are worth a look each. */
  readonly deferBacklog?: DeferBacklog | undefined;
  /** How mail of a sender presents itself; without it, unsigned and with the sender as its return path. */
  readonly findIdentity?: FindIdentity;
}

/** What stands on a message besides its content. */
export interface SendingIdentity {
  /** Puts signatures before the message; the same on every attempt, as long as the keys are the same. */
  sign(raw: Buffer, acceptedAt: Date): Buffer;
  /** Address for MAIL FROM. @param recipient the first one of the transaction */
  returnPath(messageId: MessageId, recipient: number): string;
  /** Names the source addresses to send from. */
  readonly pool?: string | undefined;
  /** Told where no server was spoken with after all. */
  release?(): void;
}

/** The identity for a From address, or why mail from it must not leave now. */
export type FindIdentity = (
  accountId: AccountId,
  from: EmailAddress,
) => Promise<SendingIdentity | IdentityProblem>;

/** Why mail must not leave now, and how long it waits before somebody looks again. */
export interface IdentityProblem {
  readonly problem: string;
  readonly delayMs?: number;
}

/** Makes the function that sends one claimed message: render, route, one SMTP transaction, a result for each recipient. */
export function createDelivery(dependencies: DeliveryDependencies): Attempt {
  // Many messages are claimed at once; rendered and signed at once, they would keep the connections waiting.
  const turns = new TurnQueue();
  return async (message, lease) => {
    const content = readContent(message.content);
    if (content === undefined)
      return resultForAll(message, 'canceled', 'its content is no longer kept');
    const template = await dependencies.findVersion(
      message.accountId,
      message.templateId,
      message.templateVersion,
    );
    if (template === undefined)
      return resultForAll(message, 'failed', 'its template version is no longer there');
    const secret = template.compiled.fields.filter((field) => field.secret).map(({ name }) => name);
    const decorated = dependencies.decorate?.(message, content, template);
    const decoration = decorated instanceof Promise ? await decorated : decorated;
    const prepare = () =>
      turns.run(message.accountId, () =>
        prepareMail(
          message,
          content,
          template,
          dependencies.staging.redirect !== undefined,
          decoration,
        ),
      );
    const report = await deliver(dependencies, message, lease, content, prepare);
    return report && { ...report, secretFields: secretFieldsOf(content, secret) };
  };
}

async function deliver(
  dependencies: DeliveryDependencies,
  message: ClaimedMessage,
  lease: Lease,
  content: MessageContent,
  prepare: () => Promise<PreparedMail>,
): Promise<AttemptResult | undefined> {
  if (message.canceled) return resultForAll(message, 'canceled', 'canceled by hand');
  if (message.expired) return resultForAll(message, 'expired', whyExpired(message));
  if (lease.stopping.aborted) return { results: [], notes: [] };
  const recipients = recipientsOf(content);
  const { staging } = dependencies;
  const heldForReview = message.whenUncertain === 'hold' ? message.doubtful : [];
  const pending = message.pending.filter((recipient) => !heldForReview.includes(recipient));
  const route = routeRecipients(recipients, pending, staging, message.pausedDestinations);
  const untried = [
    ...heldForReview.map(asHeldForReview),
    ...route.heldBack.map(asHeldBack),
    ...route.paused.map(asPaused),
  ];
  if (route.envelope.size === 0) return withoutTransaction(message, untried, route);
  const identity = await dependencies.findIdentity?.(message.accountId, content.from.address);
  if (identity !== undefined && 'problem' in identity) return waitForSender(message, identity);
  const admission = await admit(dependencies.transport, {
    to: [...route.envelope.keys()],
    fromDomain: domainOf(content.from.address),
    urgent: message.transactional,
    pool: identity?.pool,
  });
  deferBacklogs(dependencies, message, admission);
  if (admission.transactions.length === 0) {
    identity?.release?.();
    return postpone(message, admission, untried, route);
  }
  const sign = (raw: Buffer): Buffer => identity?.sign(raw, message.acceptedAt) ?? raw;
  let prepared: PreparedMail;
  let raw: Buffer;
  let ascii: Buffer | undefined;
  try {
    prepared = await prepare();
    raw = sign(prepared.mail.raw);
    ascii = prepared.mail.composeAscii && sign(prepared.mail.composeAscii());
  } catch (error) {
    for (const transaction of admission.transactions) transaction.cancel();
    identity?.release?.();
    if (error instanceof RenderingTooLarge) return resultTooLarge(message, error);
    dependencies.log.error(
      { err: error, messageId: message.messageId },
      'a message cannot be rendered',
    );
    return resultForAll(message, 'failed', `it cannot be rendered: ${errorText(error)}`);
  }
  const notes = message.attempt === 1 ? [...prepared.notes, ...redirectNote(route)] : [];
  let reached = false;
  const onResult = (result: TransactionResult): void => {
    reached ||= hasReached(result);
  };
  const report = await sendTransactions(
    { message, lease, route, recipients, notes, onResult },
    admission.transactions,
    [...untried, ...deferredResults(admission.postponed, route)],
    (to, first) => {
      const form = to.some(addressNeedsSmtpUtf8) ? undefined : ascii;
      return {
        from: identity?.returnPath(message.messageId, first) ?? content.from.address,
        to,
        raw: form ?? raw,
        group: message.accountId,
        needsSmtpUtf8: form === undefined && prepared.mail.needsSmtpUtf8,
      };
    },
  );
  if (!reached) identity?.release?.();
  return report;
}

/** True where a server was spoken with about the message. */
function hasReached({ end }: TransactionResult): boolean {
  return end.kind !== 'stopped' && !(end.kind === 'fault' && end.stage === 'connect');
}

function addressNeedsSmtpUtf8(address: string): boolean {
  return needsSmtpUtf8(address as EmailAddress);
}

/**
 * Asks for leave, by itself for addresses that need SMTPUTF8: a server without it refuses their transaction (RFC 6531
 * section 3.2), which must not be that of the other recipients.
 */
async function admit(transport: Transport, outline: MailOutline): Promise<SendingAdmission> {
  const international = outline.to.filter(addressNeedsSmtpUtf8);
  if (international.length === 0 || international.length === outline.to.length)
    return admitTogether(transport, outline);
  const plain = outline.to.filter((address) => !addressNeedsSmtpUtf8(address));
  const first = await admitTogether(transport, { ...outline, to: plain });
  const second = await admitTogether(transport, { ...outline, to: international });
  return {
    transactions: [...first.transactions, ...second.transactions],
    postponed: [...first.postponed, ...second.postponed],
  };
}

async function admitTogether(
  transport: Transport,
  outline: MailOutline,
): Promise<SendingAdmission> {
  if (transport.admit !== undefined) return await transport.admit(outline);
  const transaction: AdmittedTransaction = {
    to: outline.to,
    send: (mail, releaseDot, stopping) => transport.send(mail, releaseDot, stopping),
    cancel: () => undefined,
  };
  return { transactions: [transaction], postponed: [] };
}

const pausedRecheckMs = 60_000;

/** Nobody is left to send to now. Waiting for a paused destination counts as no attempt. */
function withoutTransaction(
  message: ClaimedMessage,
  untried: readonly RecipientResult[],
  route: DeliveryRoute,
): AttemptResult {
  if (untried.length > route.paused.length || message.remainingMs <= 0)
    return { results: untried, notes: [] };
  const delayMs = Math.min(pausedRecheckMs, message.remainingMs);
  return { results: [], notes: [], postponed: { delayMs, reason: pausedReason } };
}

function asPaused(recipient: number): RecipientResult {
  return {
    recipient,
    outcome: 'deferred',
    reason: pausedReason,
    retry: 'ordinary',
    recorded: true,
  };
}

/** How long a message waits for its sender to be mended before it is looked at again. */
const problemRecheckMs = 300_000;

function waitForSender(
  message: ClaimedMessage,
  { problem, delayMs: planned = problemRecheckMs }: IdentityProblem,
): AttemptResult {
  if (message.remainingMs <= 0) return resultForAll(message, 'expired', problem);
  const delayMs = Math.min(planned, message.remainingMs);
  return { results: [], notes: [], postponed: { delayMs, reason: `waiting: ${problem}` } };
}

/** Nothing may leave now: it does not count as an attempt, unless it was the last moment for one. */
function postpone(
  message: ClaimedMessage,
  { postponed }: SendingAdmission,
  untried: readonly RecipientResult[],
  route: DeliveryRoute,
): AttemptResult {
  const [soonest] = [...postponed].sort((one, other) => one.delayMs - other.delayMs);
  if (soonest === undefined) return { results: untried, notes: [] };
  if (message.remainingMs <= 0) return resultForAll(message, 'expired', soonest.reason);
  if (untried.length > 0)
    return { results: [...untried, ...deferredResults(postponed, route)], notes: [] };
  const delayMs = Math.min(soonest.delayMs, message.remainingMs);
  return { results: [], notes: [], postponed: { delayMs, reason: soonest.reason } };
}

function deferBacklogs(
  { deferBacklog, staging }: DeliveryDependencies,
  { accountId, transactional }: ClaimedMessage,
  { postponed }: SendingAdmission,
): void {
  if (deferBacklog === undefined || staging.redirect !== undefined) return;
  for (const { to, backlog } of postponed) {
    const [first] = to;
    if (backlog === undefined || first === undefined) continue;
    const domain = first.slice(first.lastIndexOf('@') + 1).toLowerCase();
    deferBacklog({ accountId, domain, transactional }, backlog);
  }
}

function deferredResults(
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

function resultForAll(
  message: ClaimedMessage,
  outcome: 'canceled' | 'expired' | 'failed',
  reason: string,
): AttemptResult {
  return {
    results: message.pending.map((recipient) => ({ recipient, outcome, reason })),
    notes: [],
  };
}

/** Final: its version and its values are frozen, so no later attempt can make it smaller. */
function resultTooLarge(message: ClaimedMessage, error: RenderingTooLarge): AttemptResult {
  const reason = `it cannot be sent: ${errorText(error)}`;
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

function asHeldForReview(recipient: number): RecipientResult {
  return {
    recipient,
    outcome: 'uncertain',
    reason: 'it may have been delivered; the template asks to wait for a person',
    recorded: true,
  };
}

function whyExpired(message: ClaimedMessage): string {
  return message.deliverWhenDelayed
    ? 'it could not be handed over in the time that is given to it'
    : 'it could not be handed over within its freshness window, and is not wanted late';
}

function asHeldBack(recipient: number): RecipientResult {
  return { recipient, outcome: 'canceled', reason: 'held back by DELIVERY_ALLOW' };
}

function redirectNote(route: DeliveryRoute): AttemptNote[] {
  if (!route.redirected) return [];
  return [
    { kind: 'redirected', detail: { reason: 'sent to DELIVERY_REDIRECT', header: redirectHeader } },
  ];
}

function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
