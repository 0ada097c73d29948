import { isUnavailable } from '../../base/database/sqlstate.ts';
import { type EmailAddress, needsSmtpUtf8 } from '../../base/values/email-address.ts';
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
  databaseReason,
  type Lease,
  type RecipientResult,
  type RecordableResult,
  resultWithoutDatabase,
} from '../queue/attempt.ts';
import { type AdmitAddress, deferredResults, type SendingAdmission } from './admit-mail.ts';
import {
  type DeliveryRoute,
  postponedResult,
  type RecipientSelection,
  resultTooLarge,
  resultUnrenderable,
} from './attempt-results.ts';
import { classifyTransaction } from './classify-transaction.ts';
import type { SendingIdentity } from './find-identity.ts';
import { AttachmentsUnreadable } from './load-attachments.ts';
import { type PreparedMail, redirectHeader } from './prepare-mail.ts';
import { hasReachedServer, type OutgoingMail, type TransactionResult } from './transport.ts';

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
    if (isUnavailable(error)) {
      log.warn({ err: error, ...attemptLogFields(message) }, 'an attempt waits for the database');
      return resultWithoutDatabase;
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
  /** For the addresses after the admitted one. */
  readonly admit: AdmitAddress;
  readonly identity: SendingIdentity;
  /** The mail of a transaction, by the number of its recipient. */
  readonly preparedFor: (recipient: number) => PreparedTransaction;
}

/**
 * Runs the transactions of an attempt, one for each address, one after another. Before one that doesn't cover all pending
 * recipients, the earlier results and its own recipient are saved, so that only one transaction can ever be uncertain. The
 * identity gets back the recipients for whom no server was reached.
 * @returns undefined if the lease was lost
 */
export async function sendTransactions(
  context: TransactionContext,
): Promise<AttemptResult | undefined> {
  const { identity, selection } = context;
  let unreached = selection.route.envelope.size;
  const result = await runTransactions(context, ({ end }) => {
    if (hasReachedServer(end)) unreached -= 1;
  });
  if (unreached > 0) identity.release?.(unreached);
  return result;
}

/** @param onResult called with the result of each transaction */
async function runTransactions(
  context: TransactionContext,
  onResult: (result: TransactionResult) => void,
): Promise<AttemptResult | undefined> {
  const { message, lease, recipients, selection, admission, admit } = context;
  const { addresses } = admission;
  const { route, untried } = selection;
  const [[firstOf = 0] = []] = route.envelope.values();
  const noted = context.preparedFor(firstOf).notes;
  // A redirected attempt always says so, because then nothing that comes back is about the recipient.
  let notes = [...(message.attempt === 1 ? noted : []), ...redirectNote(route)];
  let results: readonly RecordableResult[] = [
    ...untried,
    ...deferredResults(admission.postponed, route),
  ].map(asRecordable);
  for (const [index, address] of addresses.entries()) {
    const first = index === 0 ? admission.transaction : undefined;
    const transaction = first ?? (await admit(address));
    if (!('send' in transaction)) {
      results = [...results, ...deferredResults([[address, transaction]], route).map(asRecordable)];
      continue;
    }
    const next = route.envelope.get(address) ?? [];
    if (addresses.length > 1 || next.length < message.pending.length) {
      const left = await lease.advance(results, next).catch(() => 'unknown' as const);
      if (left === undefined || left === 'unknown') transaction.cancel();
      if (left === undefined) return undefined;
      if (left === 'unknown')
        return { results: [...results, ...notAttempted(addresses.slice(index), route)], notes };
      results = left;
      if (!next.some((recipient) => message.pending.includes(recipient))) {
        transaction.cancel();
        continue;
      }
    }
    const mail = makeMail(context, address, next[0] ?? 0);
    const result = await transaction.send(mail, lease.markDot, lease.stopping);
    onResult(result);
    if (result.end.kind === 'lost') return undefined;
    if (result.end.kind === 'stopped') break;
    const classified = resultsOf(next, result, recipients);
    results = [...results, ...classified.map(asRecordable)];
    notes = [...notes, ...simulatedComplaints(classified, recipients)];
  }
  return { results, notes };
}

function makeMail(
  { message, identity, preparedFor }: TransactionContext,
  to: string,
  recipient: number,
): OutgoingMail {
  const prepared = preparedFor(recipient);
  // RFC 6531 section 3.2: a server without the extension takes no such address.
  const isInternational = needsSmtpUtf8(to as EmailAddress);
  const form = isInternational ? undefined : prepared.ascii;
  return {
    from: identity.returnPath(message.messageId, recipient),
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

function asRecordable(result: RecipientResult): RecordableResult {
  return { ...result, eventId: newId(), happenedAt: performance.now() };
}

/** Results of transactions that weren't started because the earlier results couldn't be saved. */
function notAttempted(
  addresses: readonly string[],
  { envelope }: DeliveryRoute,
): RecipientResult[] {
  return addresses
    .flatMap((address) => envelope.get(address) ?? [])
    .map((recipient) => ({
      recipient,
      outcome: 'deferred' as const,
      reason: databaseReason,
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

/** Where an address stands for several recipients, the first of them carries the transcript. */
function resultsOf(
  numbers: readonly number[],
  result: TransactionResult,
  recipients: readonly EmailAddress[],
): RecipientResult[] {
  const verdict = classifyTransaction(result);
  return numbers.map((recipient, place) => {
    const transcript = place === 0 ? { transcript: result.transcript } : {};
    return {
      ...verdict,
      recipient,
      reason: maskAddresses(verdict.reason, recipients),
      detail: maskDeep({ ...verdict.detail, ...transcript }, recipients) as Record<string, unknown>,
    };
  });
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
