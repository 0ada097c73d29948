import { domainOf, type EmailAddress, needsSmtpUtf8 } from '../foundation/email-address.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { TurnQueue } from '../foundation/turn-queue.ts';
import type {
  Attempt,
  AttemptReport,
  ClaimedMessage,
  Lease,
  Note,
  RecipientResult,
} from '../queue/attempt.ts';
import { pausedReason } from '../queue/release-paused-store.ts';
import { RenderingTooLarge } from '../rendering/rendering-too-large.ts';
import { type DeliverableContent, readContent, secretFieldsOf } from './deliverable-content.ts';
import {
  type DressMail,
  type FindVersion,
  type PreparedMail,
  prepareMail,
  redirectHeader,
} from './prepare-mail.ts';
import type { PutOffCrowd } from './put-off-crowd.ts';
import type { PermanentCause } from './reply-rules.ts';
import { type Route, routeRecipients, type StagingRules } from './route-recipients.ts';
import { sendTransactions } from './send-transactions.ts';
import type {
  Admission,
  MailOutline,
  Permit,
  Postponement,
  TransactionResult,
  Transport,
} from './transport.ts';

export interface DeliveryParts {
  readonly findVersion: FindVersion;
  readonly transport: Transport;
  readonly staging: StagingRules;
  readonly dress?: DressMail | undefined;
  readonly log: Log;
  /** Told where more messages wait for a destination than are worth a look each. */
  readonly putOffCrowd?: PutOffCrowd | undefined;
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
  unused?(): void;
}

/** The identity for a From address, or why mail from it must not leave now. */
export type FindIdentity = (
  accountId: AccountId,
  from: EmailAddress,
) => Promise<SendingIdentity | IdentityProblem>;

/** Why mail must not leave now, and how long it waits before somebody looks again. */
export interface IdentityProblem {
  readonly problem: string;
  readonly milliseconds?: number;
}

/** Makes the function that sends one claimed message: render, route, one SMTP transaction, a result for each recipient. */
export function createDelivery(parts: DeliveryParts): Attempt {
  // Many messages are claimed at once; rendered and signed at once, they would keep the connections waiting.
  const turns = new TurnQueue();
  return async (message, lease) => {
    const content = readContent(message.content);
    if (content === undefined) return forAll(message, 'canceled', 'its content is no longer kept');
    const template = await parts.findVersion(
      message.accountId,
      message.templateId,
      message.templateVersion,
    );
    if (template === undefined)
      return forAll(message, 'failed', 'its template version is no longer there');
    const secret = template.compiled.fields.filter((field) => field.secret).map(({ name }) => name);
    const made = parts.dress?.(message, content, template);
    const dressing = made instanceof Promise ? await made : made;
    const prepare = () =>
      turns.run(message.accountId, () =>
        prepareMail(message, content, template, parts.staging.redirect !== undefined, dressing),
      );
    const report = await deliver(parts, message, lease, content, prepare);
    return report && { ...report, secretFields: secretFieldsOf(content, secret) };
  };
}

async function deliver(
  parts: DeliveryParts,
  message: ClaimedMessage,
  lease: Lease,
  content: DeliverableContent,
  prepare: () => Promise<PreparedMail>,
): Promise<AttemptReport | undefined> {
  if (message.canceled) return forAll(message, 'canceled', 'canceled by hand');
  if (message.expired) return forAll(message, 'expired', whyExpired(message));
  if (lease.stopping.aborted) return { results: [], notes: [] };
  const { recipients } = content;
  const { staging } = parts;
  const forPerson = message.whenUncertain === 'hold' ? message.doubtful : [];
  const pending = message.pending.filter((recipient) => !forPerson.includes(recipient));
  const route = routeRecipients(recipients, pending, staging, message.pausedDestinations);
  const untried = [
    ...forPerson.map(asHeldForPerson),
    ...route.heldBack.map(asHeldBack),
    ...route.paused.map(asPaused),
  ];
  if (route.envelope.size === 0) return withoutTransaction(message, untried, route);
  const identity = await parts.findIdentity?.(message.accountId, content.from.address);
  if (identity !== undefined && 'problem' in identity) return wait(message, identity);
  const admission = await admit(parts.transport, {
    to: [...route.envelope.keys()],
    fromDomain: domainOf(content.from.address),
    urgent: message.transactional,
    pool: identity?.pool,
  });
  tellCrowds(parts, message, admission);
  if (admission.permits.length === 0) {
    identity?.unused?.();
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
    for (const permit of admission.permits) permit.cancel();
    identity?.unused?.();
    if (error instanceof RenderingTooLarge) return tooLarge(message, error);
    parts.log.error({ err: error, messageId: message.messageId }, 'a message cannot be rendered');
    return forAll(message, 'failed', `it cannot be rendered: ${sentenceOf(error)}`);
  }
  const notes = message.attempt === 1 ? [...prepared.notes, ...redirectNote(route)] : [];
  let reached = false;
  const onResult = (result: TransactionResult): void => {
    reached ||= hasReached(result);
  };
  const report = await sendTransactions(
    { message, lease, route, recipients, notes, onResult },
    admission.permits,
    [...untried, ...putOff(admission.postponed, route)],
    (to, first) => {
      const form = to.some(isWide) ? undefined : ascii;
      return {
        from: identity?.returnPath(message.messageId, first) ?? content.from.address,
        to,
        raw: form ?? raw,
        group: message.accountId,
        needsSmtpUtf8: form === undefined && prepared.mail.needsSmtpUtf8,
      };
    },
  );
  if (!reached) identity?.unused?.();
  return report;
}

/** True where a server was spoken with about the message. */
function hasReached({ end }: TransactionResult): boolean {
  return end.kind !== 'stopped' && !(end.kind === 'fault' && end.stage === 'connect');
}

function isWide(address: string): boolean {
  return needsSmtpUtf8(address as EmailAddress);
}

/**
 * Asks for leave, by itself for addresses that need SMTPUTF8: a server without it refuses their transaction (RFC 6531
 * section 3.2), which must not be that of the other recipients.
 */
async function admit(transport: Transport, outline: MailOutline): Promise<Admission> {
  const wide = outline.to.filter(isWide);
  if (wide.length === 0 || wide.length === outline.to.length)
    return admitTogether(transport, outline);
  const plain = outline.to.filter((address) => !isWide(address));
  const first = await admitTogether(transport, { ...outline, to: plain });
  const second = await admitTogether(transport, { ...outline, to: wide });
  return {
    permits: [...first.permits, ...second.permits],
    postponed: [...first.postponed, ...second.postponed],
  };
}

async function admitTogether(transport: Transport, outline: MailOutline): Promise<Admission> {
  if (transport.admit !== undefined) return await transport.admit(outline);
  const permit: Permit = {
    to: outline.to,
    send: (mail, releaseDot, stopping) => transport.send(mail, releaseDot, stopping),
    cancel: () => undefined,
  };
  return { permits: [permit], postponed: [] };
}

const pausedMilliseconds = 60_000;

/** Nobody is left to send to now. Waiting for a paused destination counts as no attempt. */
function withoutTransaction(
  message: ClaimedMessage,
  untried: readonly RecipientResult[],
  route: Route,
): AttemptReport {
  if (untried.length > route.paused.length || message.millisecondsLeft <= 0)
    return { results: untried, notes: [] };
  const milliseconds = Math.min(pausedMilliseconds, message.millisecondsLeft);
  return { results: [], notes: [], postponed: { milliseconds, reason: pausedReason } };
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
const problemMilliseconds = 300_000;

function wait(
  message: ClaimedMessage,
  { problem, milliseconds: planned = problemMilliseconds }: IdentityProblem,
): AttemptReport {
  if (message.millisecondsLeft <= 0) return forAll(message, 'expired', problem);
  const milliseconds = Math.min(planned, message.millisecondsLeft);
  return { results: [], notes: [], postponed: { milliseconds, reason: `waiting: ${problem}` } };
}

/** Nothing may leave now: it does not count as an attempt, unless it was the last moment for one. */
function postpone(
  message: ClaimedMessage,
  { postponed }: Admission,
  untried: readonly RecipientResult[],
  route: Route,
): AttemptReport {
  const [soonest] = [...postponed].sort((one, other) => one.milliseconds - other.milliseconds);
  if (soonest === undefined) return { results: untried, notes: [] };
  if (message.millisecondsLeft <= 0) return forAll(message, 'expired', soonest.reason);
  if (untried.length > 0) return { results: [...untried, ...putOff(postponed, route)], notes: [] };
  const milliseconds = Math.min(soonest.milliseconds, message.millisecondsLeft);
  return { results: [], notes: [], postponed: { milliseconds, reason: soonest.reason } };
}

function tellCrowds(
  { putOffCrowd, staging }: DeliveryParts,
  { accountId, transactional }: ClaimedMessage,
  { postponed }: Admission,
): void {
  if (putOffCrowd === undefined || staging.redirect !== undefined) return;
  for (const { to, crowd } of postponed) {
    const [first] = to;
    if (crowd === undefined || first === undefined) continue;
    const domain = first.slice(first.lastIndexOf('@') + 1).toLowerCase();
    putOffCrowd({ accountId, domain, transactional }, crowd);
  }
}

function putOff(postponed: readonly Postponement[], route: Route): RecipientResult[] {
  return postponed.flatMap(({ to, milliseconds, reason }) =>
    to
      .flatMap((address) => route.envelope.get(address) ?? [])
      .map((recipient) => ({
        recipient,
        outcome: 'deferred' as const,
        reason,
        retry: 'connection' as const,
        retryAfter: Math.ceil(milliseconds / 1_000),
      })),
  );
}

function forAll(
  message: ClaimedMessage,
  outcome: 'canceled' | 'expired' | 'failed',
  reason: string,
): AttemptReport {
  return {
    results: message.pending.map((recipient) => ({ recipient, outcome, reason })),
    notes: [],
  };
}

/** Final: its version and its values are frozen, so no later attempt can make it smaller. */
function tooLarge(message: ClaimedMessage, error: RenderingTooLarge): AttemptReport {
  const reason = `it cannot be sent: ${sentenceOf(error)}`;
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

function asHeldForPerson(recipient: number): RecipientResult {
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

function redirectNote(route: Route): Note[] {
  if (!route.redirected) return [];
  return [
    { kind: 'redirected', detail: { reason: 'sent to DELIVERY_REDIRECT', header: redirectHeader } },
  ];
}

function sentenceOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
