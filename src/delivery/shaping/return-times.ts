import type { CrowdTimes } from '../transport.ts';

/** Urgent messages have a row of times of their own. */
export type Row = 'urgent' | 'other';

/** When a message comes back, in milliseconds of the caller's clock, and when others may that are not looked at one by one. */
export interface Return {
  readonly at: number;
  /** Present where many wait. */
  readonly crowd?: Omit<CrowdTimes, 'reason'>;
}

/** How far ahead a message is put off, urgent ones and others, where few wait; and at most. */
const horizons = { urgent: 60_000, other: 600_000, most: 1_800_000 } as const;
/** Messages per second that may come back to look; the more wait, the further ahead they are put off. */
const mostReturns = 40;
/** Where the next free time is this far ahead, more messages wait than are worth a look each. */
const crowdedMilliseconds = 5_000;

/**
 * When those that are put off come back: each at a time of its own, as they can be sent, and so far ahead that those who come
 * back are few each second, however many wait.
 */
export class ReturnTimes {
  readonly #now: () => number;
  /** The next free time of each row. */
  readonly #slots = { urgent: 0, other: 0 };
  /** How many were put off and have not come back yet, about. */
  readonly #away = { urgent: { count: 0, at: 0 }, other: { count: 0, at: 0 } };

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The next free time of a row, or beyond the horizon any.
   * @param earliest, notBefore the second one holds beyond the horizon too
   * @param spacing milliseconds between two
   */
  inRow(
    row: Row,
    now: number,
    {
      earliest,
      notBefore,
      spacing,
    }: { readonly earliest: number; readonly notBefore: number; readonly spacing: number },
  ): Return {
    const horizon = this.#horizon(row, now);
    const start = Math.max(this.#slots[row], earliest, notBefore);
    const far = start > now + horizon && start > notBefore;
    const at = far ? Math.max(notBefore, now + horizon * (0.5 + Math.random() / 2)) : start;
    if (!far) this.#slots[row] = start + spacing;
    this.#away[row].count += 1;
    if (start < now + crowdedMilliseconds) return { at };
    const crowd = {
      after: start - now,
      spacing,
      until: Math.max(horizon, notBefore - now + horizon),
      taken: (count: number) => this.#takeTimes(row, spacing, count),
    };
    return { at, crowd };
  }

  /** Any time from `begin` on, within a span that is longer the more wait. @param least milliseconds of the span */
  spread(row: Row, now: number, begin: number, least: number): Return {
    this.#horizon(row, now);
    const away = this.#away[row];
    const span = within(least, (away.count / mostReturns) * 1_000, horizons.most);
    away.count += 1;
    const at = begin + Math.random() * span;
    if (span < crowdedMilliseconds) return { at };
    const crowd = {
      after: begin - now,
      spacing: 1_000 / mostReturns,
      until: begin - now + span,
      taken: (count: number) => {
        away.count += count;
      },
    };
    return { at, crowd };
  }

  /** Times that were given out beyond the horizon were chosen at random; they take no place in the row. */
  #takeTimes(row: Row, spacing: number, count: number): void {
    const now = this.#now();
    this.#away[row].count += count;
    const taken = Math.max(this.#slots[row], now) + count * spacing;
    this.#slots[row] = Math.max(this.#slots[row], Math.min(taken, now + this.#horizon(row, now)));
  }

  #horizon(row: Row, now: number): number {
    const away = this.#away[row];
    const stay = within(horizons[row], (away.count / mostReturns) * 1_000, horizons.most);
    away.count *= Math.exp((away.at - now) / stay);
    away.at = now;
    return stay;
  }
}

function within(least: number, value: number, most: number): number {
  return Math.min(Math.max(least, value), most);
}
