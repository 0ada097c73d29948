import { type EmailAddress, needsSmtpUtf8 } from '../../base/values/email-address.ts';
import type { Log } from '../../base/values/log.ts';
import { andThen, type MaybePromise } from '../../base/values/maybe-promise.ts';
import { simulatedOutcome } from '../../base/values/simulated-address.ts';
import { RenderingTooLarge } from '../../content/rendering/rendering-too-large.ts';
import {
  type AttemptNote,
  type AttemptResult,
  attemptLogFields,
  type ClaimedMessage,
  type Lease,
} from '../queue/attempt.ts';
import { postponedResult, resultTooLarge, resultUnrenderable } from './attempt-results.ts';
import { classifyTransaction } from './classify-transaction.ts';
import type { SendingIdentity } from './find-identity.ts';
import { AttachmentsUnreadable } from './load-attachments.ts';
import { type PreparedMail, redirectHeader } from './prepare-mail.ts';
import { type AdmittedTransaction, hasReachedServer, type OutgoingMail } from './transport.ts';

const attachmentRetryMs = 5_000;

/** A message's signed bytes. */
export interface PreparedTransaction {
  readonly raw: Buffer;
  /** Variant for recipients that don't need SMTPUTF8, if it differs. */
  readonly ascii: Buffer | undefined;
  /** Makes the variant for servers without 8BITMIME; undefined: any server accepts the message. */
  readonly toSevenBit: (() => MaybePromise<Buffer>) | undefined;
  readonly needsSmtpUtf8: boolean;
  readonly notes: readonly AttemptNote[];
}

/**
 * Renders and signs a message.
 * @returns the attempt's result if that fails
 */
export async function prepareTransaction(
  message: ClaimedMessage,
  prepare: () => Promise<PreparedMail>,
  identity: SendingIdentity,
  log: Log,
): Promise<PreparedTransaction | AttemptResult> {
  const sign = (raw: Buffer): Buffer => identity.sign(raw, message.acceptedAt);
  try {
    const { mail, notes } = await prepare();
    const { composeSevenBit } = mail;
    return {
      raw: sign(mail.raw),
      ascii: mail.composeAscii && sign(mail.composeAscii()),
      toSevenBit: composeSevenBit && (() => andThen(composeSevenBit(), sign)),
      needsSmtpUtf8: mail.needsSmtpUtf8,
      notes,
    };
  } catch (error) {
    if (error instanceof RenderingTooLarge) return resultTooLarge(error);
    if (error instanceof AttachmentsUnreadable) {
      log.warn({ err: error, ...attemptLogFields(message) }, 'could not read attachments');
      return postponedResult(message, attachmentRetryMs, 'its attachments could not be read');
    }
    log.error({ err: error, ...attemptLogFields(message) }, 'could not render a message');
    return resultUnrenderable(error);
  }
}

export interface TransactionContext {
  readonly message: ClaimedMessage;
  readonly lease: Lease;
  readonly transaction: AdmittedTransaction;
  readonly identity: SendingIdentity;
  readonly prepared: PreparedTransaction;
  /** Where the mail goes: the recipient, or DELIVERY_REDIRECT. */
  readonly to: string;
  /** All of the message, whose addresses aren't recorded. */
  readonly recipients: readonly EmailAddress[];
  readonly redirects: boolean;
}

/**
 * Runs the transaction of an attempt. The identity gets back a recipient for whom no server was reached.
 * @returns undefined if the lease was lost
 */
export async function sendTransaction(
  context: TransactionContext,
): Promise<AttemptResult | undefined> {
  const { message, lease, transaction, identity, prepared, recipients, redirects } = context;
  const sent = await transaction.send(makeMail(context), lease.markDot, lease.stopping);
  if (!hasReachedServer(sent.end)) identity.release?.();
  if (sent.end.kind === 'lost') return undefined;
  if (sent.end.kind === 'stopped') return { notes: [] };
  const { outcome, reason, detail, ...verdict } = classifyTransaction(sent);
  const address = recipients[message.recipient] ?? '';
  const isComplaint = outcome === 'delivered' && simulatedOutcome(address) === 'complaint';
  return {
    result: {
      ...verdict,
      outcome,
      reason: maskAddresses(reason, recipients),
      detail: maskDeep(
        { ...detail, transcript: sent.transcript },
        recipients,
      ) as typeof detail & {},
    },
    notes: [
      ...(message.recipient === 0 && message.attempt === 1 ? prepared.notes : []),
      // Says it on every attempt, because then nothing that comes back is about the recipient.
      ...(redirects ? [redirectNote] : []),
      ...(isComplaint ? [complaintNote] : []),
    ],
  };
}

const redirectNote: AttemptNote = {
  kind: 'redirected',
  ofRecipient: true,
  detail: { reason: 'sent to DELIVERY_REDIRECT', header: redirectHeader },
};

/** The complaint that `complaint@` of the reserved test domain makes. */
const complaintNote: AttemptNote = {
  kind: 'complained',
  ofRecipient: true,
  detail: { by: 'simulator', feedbackType: 'abuse' },
};

function makeMail({ message, identity, prepared, to }: TransactionContext): OutgoingMail {
  // RFC 6531 section 3.2: a server without the extension takes no such address.
  const isInternational = needsSmtpUtf8(to as EmailAddress);
  const form = isInternational ? undefined : prepared.ascii;
  return {
    from: identity.returnPath(message.messageId, message.recipient),
    to,
    raw: form ?? prepared.raw,
    group: message.accountId,
    toSevenBit: prepared.toSevenBit,
    // A Bcc address isn't in the text, so it can need the extension even if the text doesn't.
    needsSmtpUtf8: (form === undefined && prepared.needsSmtpUtf8) || isInternational,
  };
}

/**
 * Replaces recipients in a text with `<to>` and `<cc 1>`. Personal data stays in one row, so erasing that row is enough
 * to erase the person.
 */
function maskAddresses(text: string, recipients: readonly string[]): string {
  if (!text.includes('@')) return text;
  let masked = text;
  recipients.forEach((address, recipient) => {
    const name = recipient === 0 ? '<to>' : `<cc ${recipient}>`;
    masked = replaceAny(replaceAny(masked, `<${address}>`, name), address, name);
  });
  return masked;
}

/** Masks every string in a JSON value. */
function maskDeep(value: unknown, recipients: readonly string[]): unknown {
  if (typeof value === 'string') return maskAddresses(value, recipients);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, recipients));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, maskDeep(item, recipients)]),
  );
}

/** Case-insensitive, because servers often reply in lower case. */
function replaceAny(text: string, part: string, by: string): string {
  const lower = text.toLowerCase();
  const wanted = part.toLowerCase();
  // Lowercasing can change the length of non-ASCII text; then only the exact spelling is replaced.
  if (lower.length !== text.length || wanted.length !== part.length)
    return text.replaceAll(part, by);
  let result = '';
  let from = 0;
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, from)) {
    result += text.slice(from, at) + by;
    from = at + wanted.length;
  }
  return from === 0 ? text : result + text.slice(from);
}
