import type { AccountId, TemplateId } from '../../src/foundation/ids.ts';

/** What a filled history is made of. The same plan makes the same messages. */
export interface HistoryPlan {
  readonly messages: number;
  /** The first message's time, in milliseconds since the epoch. */
  readonly from: number;
  /** After the last message. */
  readonly until: number;
  /** The first has two fifths of the messages, the others less and less. */
  readonly accountIds: readonly AccountId[];
  /** Of every account; the first are the most used. */
  readonly templateIds: readonly TemplateId[];
  readonly clientId: string;
}

const days = 90;
/** Before now, so that what follows a message is past, too. */
const settleMs = 30 * 60 * 1_000;

/** Messages of the last 90 days. */
export function planHistory(
  messages: number,
  of: Pick<HistoryPlan, 'accountIds' | 'templateIds' | 'clientId'>,
): HistoryPlan {
  const until = Date.now() - settleMs;
  return { messages, from: until - days * 24 * 60 * 60 * 1_000, until, ...of };
}

/** A hundred places, taken by accounts as their shares are; `n` messages spread over them evenly. */
export function accountPlaces(accountIds: readonly AccountId[]): AccountId[] {
  const weights = accountIds.map((_, index) => 1 / (index + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  const ends = weights.map((weight) => {
    sum += weight;
    return Math.round((sum / total) * 100);
  });
  return Array.from(
    { length: 100 },
    (_, place) => accountIds[ends.findIndex((end) => place < end)] ?? (accountIds[0] as AccountId),
  );
}
