import type { BacklogSchedule } from '../transport.ts';

/** Urgent messages have their own schedule. */
export type DeferPriority = 'urgent' | 'other';

/** When a message is due again, in milliseconds of the caller's clock, and when the rest of its backlog is. */
export interface DeferTime {
  readonly at: number;
  /** Set if there is a backlog. */
  readonly backlog?: Omit<BacklogSchedule, 'reason'>;
}

/** How far ahead messages are deferred while few are waiting, and the max. */
const horizons = { urgent: 60_000, other: 600_000, max: 1_800_000 } as const;
/** Max rechecks per second; the longer the backlog, the further ahead messages are deferred. */
const maxRechecksPerSecond = 40;
/** If the next free slot is this far ahead, too many messages are waiting to check them individually. */
const backlogThresholdMs = 5_000;

/**
 * Schedules when deferred messages are retried: spread out at the rate they can be sent, and far enough ahead to keep
 * rechecks per second low however long the backlog.
 */
export class DeferSchedule {
  readonly #now: () => number;
  /** Next free slot per priority. */
  readonly #slots = { urgent: 0, other: 0 };
  /** Estimated number of deferred messages that aren't due yet. */
  readonly #deferred = { urgent: { count: 0, at: 0 }, other: { count: 0, at: 0 } };

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The next free slot of a priority, or a random time in the horizon's second half if that slot is beyond the horizon.
   * @param notBefore like `earliest`, and also applies to the random time
   * @param spacing milliseconds between two slots
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

  /**
   * A random time after `begin`, within a span that grows with the backlog.
   * @param minSpan min span in milliseconds
   */
  spread(priority: DeferPriority, now: number, begin: number, minSpan: number): DeferTime {
    this.#horizon(priority, now);
    const deferred = this.#deferred[priority];
    const span = clamp(minSpan, (deferred.count / maxRechecksPerSecond) * 1_000, horizons.max);
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

  /** Times beyond the horizon were chosen at random and take no slot. */
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
    const horizon = clamp(
      horizons[priority],
      (deferred.count / maxRechecksPerSecond) * 1_000,
      horizons.max,
    );
    deferred.count *= Math.exp((deferred.at - now) / horizon);
    deferred.at = now;
    return horizon;
  }
}

function clamp(minSpan: number, value: number, max: number): number {
  return Math.min(Math.max(minSpan, value), max);
}
