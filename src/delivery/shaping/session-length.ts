import type { SessionEnd } from '../session-limit.ts';

/** How many messages a receiver takes over one connection, where that is fewer than its profile says. */
export interface SessionLength {
  readonly most: number;
  /** When it changed last, in milliseconds of the caller's clock. */
  readonly learntAt: number;
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
 * @param usual messages over a connection where nothing is learnt
 */
export function shortenSessions(
  known: SessionLength | undefined,
  usual: number,
  now: number,
  after: number,
  reason: string,
): SessionLength | undefined {
  const most = Math.max(1, after);
  if (most >= (known?.most ?? usual)) return known;
  return { most, learntAt: now, reason };
}

/**
 * What is known a while later, if sessions may be longer; the same if not.
 * @param full sessions that carried as many as they may since `learntAt`
 */
export function lengthenSessions(
  known: SessionLength | undefined,
  usual: number,
  now: number,
  full: number,
): SessionLength | undefined {
  if (known === undefined || full < tryAfter.sessions) return known;
  if (now - known.learntAt < tryAfter.milliseconds) return known;
  const most = Math.ceil(known.most * tryAfter.factor);
  return most >= usual ? undefined : { ...known, most, learntAt: now };
}

/** Looks at how the sessions of one node with a destination end. */
export class SessionWatch {
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
    ends: readonly SessionEnd[],
    trusted: boolean,
    known: SessionLength | undefined,
    usual: number,
    now: number,
  ): SessionLength | undefined {
    let length = known;
    for (const end of ends) {
      if (end.kind === 'full') {
        if (end.after >= (length?.most ?? usual)) this.#full += 1;
        if (this.#suspect !== undefined && end.after > this.#suspect) this.#suspect = undefined;
        continue;
      }
      const { after, text, named } = end;
      const again = trusted && this.#suspect === after;
      if (trusted && !named) this.#suspect = after;
      if (named || again) length = shortenSessions(length, usual, now, after, text);
    }
    return length;
  }
}
