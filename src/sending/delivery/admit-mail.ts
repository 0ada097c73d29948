import type { AttemptResult, ClaimedMessage, RecipientResult } from '../queue/attempt.ts';
import {
  type DeliveryRoute,
  postponedResult,
  type RecipientSelection,
  resultForAll,
  withResults,
} from './attempt-results.ts';
import type { AdmittedTransaction, Postponement } from './transport.ts';

/** Whether a message may be sent to an address now. */
export type AdmitAddress = (address: string) => Promise<AdmittedTransaction | Postponement>;

/** How far the addresses of a message were asked for. */
export interface SendingAdmission {
  /** Those that have to wait, before the first that doesn't. */
  readonly postponed: ReadonlyMap<string, Postponement>;
  /** Of the first that doesn't have to wait; undefined if all have to. */
  readonly transaction: AdmittedTransaction | undefined;
  /** From that one on. */
  readonly addresses: readonly string[];
}

/**
 * Finds the first address that may be sent to now. Those after it are asked for when it is their turn, so that a message
 * never waits for a slot that it holds itself.
 */
export async function admitMail(
  admit: AdmitAddress,
  addresses: readonly string[],
): Promise<SendingAdmission> {
  const postponed = new Map<string, Postponement>();
  for (const [index, address] of addresses.entries()) {
    const admitted = await admit(address);
    if ('send' in admitted)
      return { postponed, transaction: admitted, addresses: addresses.slice(index) };
    postponed.set(address, admitted);
  }
  return { postponed, transaction: undefined, addresses: [] };
}

/** Nothing can be sent now. This doesn't count as an attempt unless the message would expire before the next one. */
export function postponeMessage(
  message: ClaimedMessage,
  { postponed }: SendingAdmission,
  { route, untried }: RecipientSelection,
): AttemptResult {
  const [soonest] = [...postponed.values()].sort((one, other) => one.delayMs - other.delayMs);
  if (soonest === undefined) return withResults(untried);
  if (message.remainingMs <= 0) return resultForAll(message, 'expired', soonest.reason);
  if (untried.length > 0) return withResults([...untried, ...deferredResults(postponed, route)]);
  return postponedResult(message, soonest.delayMs, soonest.reason);
}

/** Results for recipients that are deferred while others of the same message are sent. */
export function deferredResults(
  postponed: Iterable<readonly [address: string, postponement: Postponement]>,
  { envelope }: DeliveryRoute,
): RecipientResult[] {
  return [...postponed].flatMap(([address, { delayMs, reason }]) =>
    (envelope.get(address) ?? []).map((recipient) => ({
      recipient,
      outcome: 'deferred' as const,
      reason,
      retry: 'connection' as const,
      retryAfter: Math.ceil(delayMs / 1_000),
    })),
  );
}
