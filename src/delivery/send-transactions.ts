import type { EmailAddress } from '../foundation/email-address.ts';
import { newId } from '../foundation/ids.ts';
import { simulatedOutcome } from '../foundation/simulated-address.ts';
import type {
  AttemptNote,
  AttemptResult,
  ClaimedMessage,
  Lease,
  RecipientResult,
  RecordableResult,
} from '../queue/attempt.ts';
import { saysTooManyRecipients } from './classify-reply.ts';
import { classifyTransaction } from './classify-transaction.ts';
import type { DeliveryRoute } from './route-recipients.ts';
import type { AdmittedTransaction, OutgoingMail, TransactionResult } from './transport.ts';

export interface TransactionContext {
  readonly message: ClaimedMessage;
  readonly lease: Lease;
  readonly route: DeliveryRoute;
  readonly recipients: readonly EmailAddress[];
  readonly notes: readonly AttemptNote[];
  /** Called with the result of each transaction and its recipients, without those of its rest. */
  readonly onResult: (result: TransactionResult, to: readonly string[]) => void;
  /** Makes a transaction for recipients that didn't fit into one. */
  readonly admitRest: (to: readonly string[]) => AdmittedTransaction;
}

/**
 * Builds the mail of a transaction.
 * @param first number of its first recipient
 */
export type MakeMail = (to: readonly string[], first: number) => OutgoingMail;

/**
 * Runs the transactions of an attempt one after another. Before a transaction that doesn't cover all pending
 * recipients, the earlier results and its own recipients are saved, so that only one transaction's recipients can ever
 * be uncertain.
 * @param priorResults results of recipients that aren't in any of them
 * @returns undefined if the lease was lost
 */
export async function sendTransactions(
  { message, lease, route, recipients, notes, onResult, admitRest }: TransactionContext,
  admitted: readonly AdmittedTransaction[],
  priorResults: readonly RecipientResult[],
  makeMail: MakeMail,
): Promise<AttemptResult | undefined> {
  let results: readonly RecordableResult[] = priorResults.map(asRecordable);
  let allNotes = notes;
  const transactions = [...admitted];
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
        return {
          results: [...results, ...notAttempted(transactions.slice(index), route)],
          notes: allNotes,
        };
      results = left;
    }
    const mail = makeMail(transaction.to, next[0] ?? 0);
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
    allNotes = [...allNotes, ...simulatedComplaints(classified, recipients)];
  }
  return { results, notes: allNotes };
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
