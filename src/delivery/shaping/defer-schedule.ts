import type { BacklogSchedule } from '../transport.ts';

/** Urgent messages have a row of times of their own. */
export type DeferPriority = 'urgent' | 'other';

/** When a message comes back, in milliseconds of the caller's clock, and when others may that are not looked at one by one. */
export interface DeferTime {
  readonly at: number;
  /** Present where many wait. */
  readonly backlog?: Omit<BacklogSchedule, 'reason'>;
}

/** How far ahead a message is put off, urgent ones and others, where few wait; and at most. */
const horizons = { urgent: 60_000, other: 600_000, max: 1_800_000 } as const;
/** Messages per second that may come back to look; the more wait, the further ahead they are put off. */
const maxRechecksPerSecond = 40;
/** Where the next free time is this far ahead, more messages wait than are worth a look each. */
const backlogThresholdMs = 5_000;

/**
 * When those that are put off come back: each at a time of its own, as they can be sent, and so far ahead that those who come
 * back are few each second, however many wait.
 */
export class DeferSchedule {
  readonly #now: () => number;
  /** The next free time of each row. */
  readonly #slots = { urgent: 0, other: 0 };
  /** How many were put off and have not come back yet, about. */
  readonly #deferred = { urgent: { count: 0, at: 0 }, other: { count: 0, at: 0 } };

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The next free time of a row, or beyond the horizon any.
   * @param earliest, notBefore the second one holds beyond the horizon too
   * @param spacing milliseconds between two
   */
  nextSlot(
    priority: DeferPriority,
    now: number,
    {
      earliest,
      notBefore,
      spacing,
    }: { readonly earliest: number; readonly notBefore: number; readonly spacing: number },
  ): DeferTime {
    const horizon = this.#horizon(priority, now);
    const start = Math.max(this.#slots[priority], earliest, notBefore);
    const far = start > now + horizon && start > notBefore;
    const at = far ? Math.max(notBefore, now + horizon * (0.5 + Math.random() / 2)) : start;
    if (!far) this.#slots[priority] = start + spacing;
    this.#deferred[priority].count += 1;
    if (start < now + backlogThresholdMs) return { at };
    const backlog = {
      after: start - now,
      spacing,
      until: Math.max(horizon, notBefore - now + horizon),
      consume: (count: number) => this.#consumeSlots(priority, spacing, count),
    };
    return { at, backlog };
  }

  /** Any time from `begin` on, within a span that is longer the more wait. @param least milliseconds of the span */
  spread(priority: DeferPriority, now: number, begin: number, least: number): DeferTime {
    this.#horizon(priority, now);
    const deferred = this.#deferred[priority];
    const span = clamp(least, (deferred.count / maxRechecksPerSecond) * 1_000, horizons.max);
    deferred.count += 1;
    const at = begin + Math.random() * span;
    if (span < backlogThresholdMs) return { at };
    const backlog = {
      after: begin - now,
      spacing: 1_000 / maxRechecksPerSecond,
      until: begin - now + span,
      consume: (count: number) => {
        deferred.count += count;
      },
    };
    return { at, backlog };
  }

  /** Times that were given out beyond the horizon were chosen at random; they take no place in the row. */
  #consumeSlots(priority: DeferPriority, spacing: number, count: number): void {
    const now = this.#now();
    this.#deferred[priority].count += count;
    const taken = Math.max(this.#slots[priority], now) + count * spacing;
    this.#slots[priority] = Math.max(
      this.#slots[priority],
      Math.min(taken, now + this.#horizon(priority, now)),
    );
  }

  #horizon(priority: DeferPriority, now: number): number {
    const deferred = this.#deferred[priority];
    const stay = clamp(
      horizons[priority],
      (deferred.count / maxRechecksPerSecond) * 1_000,
      horizons.max,
    );
    deferred.count *= Math.exp((deferred.at - now) / stay);
    deferred.at = now;
    return stay;
  }
}

function clamp(least: number, value: number, max: number): number {
  return Math.min(Math.max(least, value), max);
}
