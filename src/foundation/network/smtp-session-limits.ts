import { SharedPace } from './shared-pace.ts';

/** What a session of an SMTP server can use. */
export interface SmtpSessionLimits {
  /** Max sessions per IP address (an IPv6 /64 counts as one). */
  readonly sessionsPerNetwork: number;
  /** Max commands per message, including NOOP, RSET and HELP. */
  readonly commandsPerMessage: number;
  /** Max messages per session; senders with more can reconnect. */
  readonly messagesPerSession: number;
  /** From connecting to the first MAIL, or to the login where one is needed. */
  readonly firstIdleMs: number;
  /** From the last message, or the login, to the next MAIL. */
  readonly idleMs: number;
  /** From MAIL to the end of the message (RFC 5321 section 4.5.3.2.6). */
  readonly transactionMs: number;
  /** What all sessions together read, because reading takes time from whatever else the process does. */
  readonly bytesPerSecond: number;
}

/** Tracks a session's usage against its limits. */
export class SmtpSessionUsage {
  readonly network: string;
  readonly #limits: SmtpSessionLimits;
  #commands = 0;
  #messages = 0;
  #inTransaction = false;
  #deadline: number;

  /** @param now milliseconds since the epoch */
  constructor(network: string, limits: SmtpSessionLimits, now: number) {
    this.network = network;
    this.#limits = limits;
    this.#deadline = now + limits.firstIdleMs;
  }

  /** Counts a command; false if there were too many since the last message. */
  countCommand(): boolean {
    this.#commands += 1;
    return this.#commands <= this.#limits.commandsPerMessage;
  }

  /** The client has logged in. */
  beginLogin(now: number): void {
    this.#deadline = now + this.#limits.idleMs;
  }

  /** Starts a message; false if the session has reached its limit. RSET and another MAIL don't extend the timeout. */
  beginMessage(now: number): boolean {
    if (this.#messages >= this.#limits.messagesPerSession) return false;
    if (!this.#inTransaction) this.#deadline = now + this.#limits.transactionMs;
    this.#inTransaction = true;
    return true;
  }

  endMessage(now: number): void {
    this.#messages += 1;
    this.#commands = 0;
    this.#inTransaction = false;
    this.#deadline = now + this.#limits.idleMs;
  }

  isExpired(now: number): boolean {
    return now > this.#deadline;
  }
}

/** Open sessions by network, and how fast they are read. */
export class SmtpSessionSlots {
  readonly #limits: SmtpSessionLimits;
  readonly #byNetwork = new Map<string, number>();
  readonly pace: SharedPace;

  constructor(limits: SmtpSessionLimits) {
    this.#limits = limits;
    this.pace = new SharedPace(limits.bytesPerSecond);
  }

  /** Takes a slot; undefined if the network has reached its limit. */
  acquire(network: string, now: number): SmtpSessionUsage | undefined {
    const open = this.#byNetwork.get(network) ?? 0;
    if (open >= this.#limits.sessionsPerNetwork) return undefined;
    this.#byNetwork.set(network, open + 1);
    return new SmtpSessionUsage(network, this.#limits, now);
  }

  release({ network }: SmtpSessionUsage): void {
    const open = (this.#byNetwork.get(network) ?? 0) - 1;
    if (open > 0) this.#byNetwork.set(network, open);
    else this.#byNetwork.delete(network);
  }
}
