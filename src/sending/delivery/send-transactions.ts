import type { EmailAddress } from '../../base/values/email-address.ts';
import { newId } from '../../base/values/ids.ts';
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
  type RecipientResult,
  type RecordableResult,
} from '../queue/attempt.ts';
import { addressNeedsSmtpUtf8, deferredResults } from './admit-mail.ts';
import {
  type DeliveryRoute,
  postponedResult,
  type RecipientSelection,
  resultTooLarge,
  resultUnrenderable,
} from './attempt-results.ts';
import { saysTooManyRecipients } from './classify-reply.ts';
import { classifyTransaction } from './classify-transaction.ts';
import type { SendingIdentity } from './find-identity.ts';
import { AttachmentsUnreadable } from './load-attachments.ts';
import { type PreparedMail, redirectHeader } from './prepare-mail.ts';
import {
  type AdmittedTransaction,
  hasReachedServer,
  type OutgoingMail,
  type SendingAdmission,
  type TransactionResult,
} from './transport.ts';

const attachmentRetryMs = 5_000;

/** A message's signed bytes, ready for any of its transactions. */
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
    if (error instanceof RenderingTooLarge) return resultTooLarge(message, error);
    if (error instanceof AttachmentsUnreadable) {
      log.warn({ err: error, ...attemptLogFields(message) }, 'could not read attachments');
      return postponedResult(message, attachmentRetryMs, 'its attachments could not be read');
    }
    log.error({ err: error, ...attemptLogFields(message) }, 'could not render a message');
    return resultUnrenderable(message, error);
  }
}

/** What the transactions of an attempt share. */
export interface TransactionContext {
  readonly message: ClaimedMessage;
  readonly lease: Lease;
  readonly recipients: readonly EmailAddress[];
  readonly selection: RecipientSelection;
  readonly admission: SendingAdmission;
  /** Makes a transaction for recipients that didn't fit into one. */
  readonly admitRest: (to: readonly string[]) => AdmittedTransaction;
  readonly identity: SendingIdentity;
  /** The mail of a transaction, by the number of its first recipient. */
  readonly preparedFor: (first: number) => PreparedTransaction;
}

/**
 * Runs the transactions of an attempt one after another. Before a transaction that doesn't cover all pending
 * recipients, the earlier results and its own recipients are saved, so that only one transaction's recipients can ever
 * be uncertain. The identity gets back the recipients for whom no server was reached.
 * @returns undefined if the lease was lost
 */
export async function sendTransactions(
  context: TransactionContext,
): Promise<AttemptResult | undefined> {
  const { identity, selection } = context;
  let unreached = selection.route.envelope.size;
  const result = await runTransactions(context, ({ end }, to) => {
    if (hasReachedServer(end)) unreached -= to.length;
  });
  if (unreached > 0) identity.release?.(unreached);
  return result;
}

/** @param onResult called with the result of each transaction and its recipients, without those of its rest */
async function runTransactions(
  context: TransactionContext,
  onResult: (result: TransactionResult, to: readonly string[]) => void,
): Promise<AttemptResult | undefined> {
  const { message, lease, recipients, selection, admission, admitRest } = context;
  const { route, untried } = selection;
  const [[firstOf = 0] = []] = route.envelope.values();
  const noted = context.preparedFor(firstOf).notes;
  // A redirected attempt always says so, because then nothing that comes back is about the recipient.
  let notes = [...(message.attempt === 1 ? noted : []), ...redirectNote(route)];
  let results: readonly RecordableResult[] = [
    ...untried,
    ...deferredResults(admission.postponed, route),
  ].map(asRecordable);
  const transactions = [...admission.transactions];
  const cancelFrom = (index: number): void => {
    for (const transaction of transactions.slice(index)) transaction.cancel();
  };
  for (const [index, transaction] of transactions.entries()) {
    const next = recipientNumbers(transaction, route);
    if (transactions.length > 1 || next.length < message.pending.length) {
      const left = await lease.advance(results, next).catch(() => 'unknown' as const);
      if (left === undefined || left === 'unknown') cancelFrom(index);
      if (left === undefined) return undefined;
      if (left === 'unknown')
        return { results: [...results, ...notAttempted(transactions.slice(index), route)], notes };
      results = left;
    }
    const mail = makeMail(context, transaction.to, next[0] ?? 0);
    const result = await transaction.send(mail, lease.markDot, lease.stopping);
    const rest = restOf(result, transaction.to);
    const tried = transaction.to.filter((address) => !rest.includes(address));
    if (rest.length > 0) transactions.splice(index + 1, 0, admitRest(rest));
    onResult(result, tried);
    if (result.end.kind === 'lost' || result.end.kind === 'stopped') cancelFrom(index + 1);
    if (result.end.kind === 'lost') return undefined;
    if (result.end.kind === 'stopped') break;
    const classified = resultsOf(route, tried, result, recipients);
    results = [...results, ...classified.map(asRecordable)];
    notes = [...notes, ...simulatedComplaints(classified, recipients)];
  }
  return { results, notes };
}

function makeMail(
  { message, identity, preparedFor }: TransactionContext,
  to: readonly string[],
  first: number,
): OutgoingMail {
  const prepared = preparedFor(first);
  const isInternational = to.some(addressNeedsSmtpUtf8);
  const form = isInternational ? undefined : prepared.ascii;
  return {
    from: identity.returnPath(message.messageId, first),
    to,
    raw: form ?? prepared.raw,
    group: message.accountId,
    toSevenBit: prepared.toSevenBit,
    // A Bcc address isn't in the text, so it can need the extension even if the text doesn't.
    needsSmtpUtf8: (form === undefined && prepared.needsSmtpUtf8) || isInternational,
  };
}

function redirectNote({ redirected }: DeliveryRoute): AttemptNote[] {
  const detail = { reason: 'sent to DELIVERY_REDIRECT', header: redirectHeader };
  return redirected ? [{ kind: 'redirected', detail }] : [];
}

/**
 * The recipients that a server refused because it takes no more in one transaction; the others have the message. They go at once
 * in the next one (RFC 5321 section 4.5.3.1.10), which ends, because a transaction without an accepted recipient has no rest.
 */
function restOf({ end, refused }: TransactionResult, to: readonly string[]): readonly string[] {
  if (end.kind !== 'reply' || end.stage !== 'final' || Math.floor(end.reply.code / 100) !== 2)
    return [];
  return to.filter((address) => {
    const reply = refused.get(address);
    return reply !== undefined && saysTooManyRecipients(reply);
  });
}

function asRecordable(result: RecipientResult): RecordableResult {
  return { ...result, eventId: newId(), happenedAt: performance.now() };
}

/** The numbers of a transaction's recipients. */
function recipientNumbers({ to }: AdmittedTransaction, route: DeliveryRoute): number[] {
  return to.flatMap((address) => route.envelope.get(address) ?? []);
}

/** Results of transactions that weren't started because the earlier results couldn't be saved. */
function notAttempted(
  transactions: readonly AdmittedTransaction[],
  route: DeliveryRoute,
): RecipientResult[] {
  return transactions
    .flatMap((transaction) => recipientNumbers(transaction, route))
    .map((recipient) => ({
      recipient,
      outcome: 'deferred' as const,
      reason: 'Signalpost’s database did not respond in time; delivery was not attempted',
      retry: 'connection' as const,
    }));
}

/** Simulates complaints for `complaint@` of the reserved test domain after delivery. */
function simulatedComplaints(
  results: readonly RecipientResult[],
  recipients: readonly EmailAddress[],
): AttemptNote[] {
  return results
    .filter(
      ({ recipient, outcome }) =>
        outcome === 'delivered' && simulatedOutcome(recipients[recipient] ?? '') === 'complaint',
    )
    .map(({ recipient }) => ({
      kind: 'complained',
      recipient,
      detail: { by: 'simulator', feedbackType: 'abuse' },
    }));
}

/** Only the transaction's first recipient carries the transcript, since it is the same for all. */
function resultsOf(
  route: DeliveryRoute,
  to: readonly string[],
  result: TransactionResult,
  recipients: readonly EmailAddress[],
): RecipientResult[] {
  const results: RecipientResult[] = [];
  const verdicts = classifyTransaction(result, to);
  for (const [address, verdict] of verdicts) {
    for (const recipient of route.envelope.get(address) ?? []) {
      const transcript = results.length === 0 ? { transcript: result.transcript } : {};
      results.push({
        ...verdict,
        recipient,
        reason: maskAddresses(verdict.reason, recipients),
        detail: maskDeep({ ...verdict.detail, ...transcript }, recipients) as Record<
          string,
          unknown
        >,
      });
    }
  }
  return results;
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
