import type { EmailAddress } from '../foundation/email-address.ts';
import { simulatedOutcome } from '../foundation/simulated-address.ts';
import type {
  AttemptReport,
  ClaimedMessage,
  Lease,
  Note,
  RecipientResult,
} from '../queue/attempt.ts';
import { judgeTransaction } from './judge-transaction.ts';
import { maskAddresses, maskDeep } from './mask-addresses.ts';
import type { Route } from './route-recipients.ts';
import type { OutgoingMail, Permit, TransactionResult } from './transport.ts';

export interface Transactions {
  readonly message: ClaimedMessage;
  readonly lease: Lease;
  readonly route: Route;
  readonly recipients: readonly EmailAddress[];
  readonly notes: readonly Note[];
  /** Told what each transaction came to. */
  readonly onResult: (result: TransactionResult) => void;
}

/** The mail of a transaction. @param first the number of its first recipient */
export type MakeMail = (to: readonly string[], first: number) => OutgoingMail;

/**
 * Makes the transactions of an attempt one after the other. Where one is not for all that are pending, what came
 * of the earlier ones, and whom it is for, is written before it begins: so only the recipients of one transaction can ever
 * become uncertain together.
 * @param known results of recipients that are in none of them
 * @returns undefined where the lease is lost
 */
export async function sendTransactions(
  { message, lease, route, recipients, notes, onResult }: Transactions,
  permits: readonly Permit[],
  known: readonly RecipientResult[],
  makeMail: MakeMail,
): Promise<AttemptReport | undefined> {
  let results = known;
  let told = notes;
  const cancelFrom = (place: number): void => {
    for (const permit of permits.slice(place)) permit.cancel();
  };
  for (const [place, permit] of permits.entries()) {
    const next = numbersOf(permit, route);
    if (permits.length > 1 || next.length < message.pending.length) {
      const left = await lease.advance(results, next).catch(() => 'unknown' as const);
      if (left === undefined || left === 'unknown') cancelFrom(place);
      if (left === undefined) return undefined;
      if (left === 'unknown')
        return { results: [...results, ...unrecordable(permits.slice(place), route)], notes: told };
      results = left;
    }
    const mail = makeMail(permit.to, next[0] ?? 0);
    const result = await permit.send(mail, lease.markDot, lease.stopping);
    onResult(result);
    if (result.end.kind === 'lost' || result.end.kind === 'stopped') cancelFrom(place + 1);
    if (result.end.kind === 'lost') return undefined;
    if (result.end.kind === 'stopped') break;
    const judged = judge(route, permit.to, result, recipients);
    results = [...results, ...judged];
    told = [...told, ...simulatedComplaints(judged, recipients)];
  }
  return { results, notes: told };
}

/** The recipients that a transaction is for. */
function numbersOf({ to }: Permit, route: Route): number[] {
  return to.flatMap((address) => route.envelope.get(address) ?? []);
}

/** No transaction is begun whose predecessors’ outcomes could not be written. */
function unrecordable(permits: readonly Permit[], route: Route): RecipientResult[] {
  return permits
    .flatMap((permit) => numbersOf(permit, route))
    .map((recipient) => ({
      recipient,
      outcome: 'deferred' as const,
      reason: 'our own database did not answer in time: it was not tried',
      retry: 'connection' as const,
    }));
}

/** What `complaint@` of the reserved test domain asks for, once it has its message. */
function simulatedComplaints(
  results: readonly RecipientResult[],
  recipients: readonly EmailAddress[],
): Note[] {
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

/** The transcript stands with the first recipient of the transaction; the others are part of the same one. */
function judge(
  route: Route,
  to: readonly string[],
  result: TransactionResult,
  recipients: readonly EmailAddress[],
): RecipientResult[] {
  const results: RecipientResult[] = [];
  const verdicts = judgeTransaction(result, to);
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
