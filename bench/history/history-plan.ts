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

/** The messages of one weekly partition: numbers `first` up to `end`, not included. */
export interface HistoryWeek {
  readonly from: number;
  readonly first: bigint;
  readonly end: bigint;
}

const week = 7 * 24 * 60 * 60 * 1_000;
/** Monday, 29 December 1969: partitions begin on Mondays. */
const firstMonday = -3 * 24 * 60 * 60 * 1_000;

/** The weeks that hold messages of the plan, in their order. */
export function weeksOf({ messages, from, until }: HistoryPlan): HistoryWeek[] {
  const span = BigInt(until - from);
  const count = BigInt(messages);
  /** The first message at or after a time. */
  const numberAt = (time: number): bigint => {
    if (time <= from) return 0n;
    if (time >= until) return count;
    return (BigInt(time - from) * count + span - 1n) / span;
  };
  const weeks: HistoryWeek[] = [];
  const start = Math.floor((from - firstMonday) / week) * week + firstMonday;
  for (let monday = start; monday < until; monday += week) {
    const [first, end] = [numberAt(monday), numberAt(monday + week)];
    if (first < end) weeks.push({ from: monday, first, end });
  }
  return weeks;
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
