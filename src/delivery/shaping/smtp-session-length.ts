import type { SmtpSessionEnd } from '../smtp-session-limit.ts';

/** How many messages a receiver takes over one connection, where that is fewer than its profile says. */
export interface SmtpSessionLength {
  readonly maxMessages: number;
  /** When it changed last, in milliseconds of the caller's clock. */
  readonly learnedAt: number;
  /** What the receiver said when it took no more. */
  readonly reason: string;
}

/**
 * A longer session is tried after this many that were full, and not sooner than after this time: the receiver's refusal of
 * the try costs a command and a new connection.
 */
const tryAfter = { sessions: 50, milliseconds: 600_000, factor: 1.25 };

/**
 * What is known after a receiver took no more than `after` messages over a connection; the same where that is no news.
 * @param defaultMax messages over a connection where nothing is learnt
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
 * What is known a while later, if sessions may be longer; the same if not.
 * @param full sessions that carried as many as they may since `learntAt`
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

/** Looks at how the sessions of one node with a destination end. */
export class SmtpSessionTracker {
  #full = 0;
  /** After how many messages a session ended last without a word about a limit. */
  #suspect: number | undefined;

  /** Sessions that were full since something was learnt last. */
  get full(): number {
    return this.#full;
  }

  /** Something else holds from now on. */
  restart(): void {
    this.#full = 0;
  }

  /**
   * Takes the ends of sessions. An end that names no limit counts where the one before it came after as many messages: a
   * server that restarts ends sessions too, but not twice at the same place.
   * @param trusted false where the message was not taken over another session either: the ends are about something else
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
