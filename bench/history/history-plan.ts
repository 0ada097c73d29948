import type { AccountId, TemplateId } from '../../src/foundation/ids.ts';

/** The same plan makes the same messages. */
export interface HistoryPlan {
  readonly messages: number;
  /** Milliseconds since the epoch, up to but not including `until`. */
  readonly from: number;
  readonly until: number;
  /** The first has two fifths of the messages, the others fewer and fewer. */
  readonly accountIds: readonly AccountId[];
  /** Of every account; the first are used most. */
  readonly templateIds: readonly TemplateId[];
  readonly clientId: string;
}

const spanMs = 90 * 24 * 60 * 60 * 1_000;
/** Before now, so that what follows a message is past, too. */
const settleMs = 30 * 60 * 1_000;

/** Messages of the last 90 days. */
export function planHistory(
  messages: number,
  of: Pick<HistoryPlan, 'accountIds' | 'templateIds' | 'clientId'>,
): HistoryPlan {
  const until = Date.now() - settleMs;
  return { messages, from: until - spanMs, until, ...of };
}

/** A hundred IDs, each as often as its account's share in percent. */
export function accountPlaces(accountIds: readonly AccountId[]): AccountId[] {
  const weights = accountIds.map((_, index) => 1 / (index + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  return accountIds.flatMap((id, index) => {
    const start = Math.round((sum / total) * 100);
    sum += weights[index] ?? 0;
    return Array.from({ length: Math.round((sum / total) * 100) - start }, () => id);
  });
}
