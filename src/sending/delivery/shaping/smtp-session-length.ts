import type { SmtpSessionEnd } from '../smtp-session-limit.ts';

/** How many messages a receiver accepts per connection, if fewer than its profile says. */
export interface SmtpSessionLength {
  readonly maxMessages: number;
  /** Last change, in milliseconds of the caller's clock. */
  readonly learnedAt: number;
  /** The receiver's reply when it accepted no more. */
  readonly reason: string;
}

/**
 * Try longer sessions after this many full ones and at least this much time. A failed try only costs a command and a
 * new connection.
 */
const tryAfter = { sessions: 50, milliseconds: 600_000, factor: 1.25 };

/**
 * The new limit after a receiver accepted only `after` messages on a connection, or the current one if that adds nothing.
 * @param defaultMax messages per connection if nothing was learned
 */
function shortenSmtpSessions(
  current: SmtpSessionLength | undefined,
  defaultMax: number,
  now: number,
  after: number,
  reason: string,
): SmtpSessionLength | undefined {
  const maxMessages = Math.max(1, after);
  if (maxMessages >= (current?.maxMessages ?? defaultMax)) return current;
  return { maxMessages, learnedAt: now, reason };
}

/**
 * A longer limit if it is time to try one, otherwise the same.
 * @param full sessions that reached the limit since `learnedAt`
 */
export function lengthenSmtpSessions(
  current: SmtpSessionLength | undefined,
  defaultMax: number,
  now: number,
  full: number,
): SmtpSessionLength | undefined {
  if (current === undefined || full < tryAfter.sessions) return current;
  if (now - current.learnedAt < tryAfter.milliseconds) return current;
  const maxMessages = Math.ceil(current.maxMessages * tryAfter.factor);
  return maxMessages >= defaultMax ? undefined : { ...current, maxMessages, learnedAt: now };
}

/** Tracks how sessions between one node and a destination end. */
export class SmtpSessionTracker {
  #full = 0;
  /** After how many messages a session last ended without naming a limit. */
  #suspect: number | undefined;

  /** Full sessions since the limit was last learned. */
  get full(): number {
    return this.#full;
  }

  /** Starts over with a new limit. */
  restart(): void {
    this.#full = 0;
  }

  /**
   * Processes session ends. One that names no limit counts only if the previous one ended after as many messages:
   * server restarts end sessions too, but not twice at the same count.
   * @param trusted false if the message wasn't accepted in another session either, so the ends have another cause
   */
  learn(
    ends: readonly SmtpSessionEnd[],
    trusted: boolean,
    current: SmtpSessionLength | undefined,
    defaultMax: number,
    now: number,
  ): SmtpSessionLength | undefined {
    let length = current;
    for (const end of ends) {
      if (end.kind === 'full') {
        if (end.after >= (length?.maxMessages ?? defaultMax)) this.#full += 1;
        if (this.#suspect !== undefined && end.after > this.#suspect) this.#suspect = undefined;
        continue;
      }
      const { after, text, named } = end;
      const again = trusted && this.#suspect === after;
      if (trusted && !named) this.#suspect = after;
      if (named || again) length = shortenSmtpSessions(length, defaultMax, now, after, text);
    }
    return length;
  }
}
