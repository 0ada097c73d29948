/** Max sessions per IP address (an IPv6 /64 counts as one), out of 100 in total. */
export const maxSmtpSessionsPerNetwork = 10;
/** Max commands per message, including NOOP, RSET and HELP; a message with STARTTLS needs seven. */
export const maxCommandsPerMessage = 20;
/** Max messages per session; senders with more can reconnect. */
export const maxMessagesPerSmtpSession = 100;
/** From connecting, or the last message, to the next MAIL. */
export const maxIdleMs = 60_000;
/** From MAIL to the end of the message (RFC 5321 section 4.5.3.2.6). */
export const maxTransactionMs = 10 * 60_000;

/** Tracks a session's usage against its limits. */
export class SmtpSessionUsage {
  readonly network: string;
  #commands = 0;
  #messages = 0;
  #inTransaction = false;
  #deadline: number;

  /** @param now milliseconds since the epoch */
  constructor(network: string, now: number) {
    this.network = network;
    this.#deadline = now + maxIdleMs;
  }

  /** Counts a command; false if there were too many since the last message. */
  countCommand(): boolean {
    this.#commands += 1;
    return this.#commands <= maxCommandsPerMessage;
  }

  /** Starts a message; false if the session has reached its limit. RSET and another MAIL don't extend the timeout. */
  beginMessage(now: number): boolean {
    if (this.#messages >= maxMessagesPerSmtpSession) return false;
    if (!this.#inTransaction) this.#deadline = now + maxTransactionMs;
    this.#inTransaction = true;
    return true;
  }

  endMessage(now: number): void {
    this.#messages += 1;
    this.#commands = 0;
    this.#inTransaction = false;
    this.#deadline = now + maxIdleMs;
  }

  isExpired(now: number): boolean {
    return now > this.#deadline;
  }
}

/** Open sessions by network. */
export class SmtpSessionSlots {
  readonly #byNetwork = new Map<string, number>();

  /** Takes a slot; undefined if the network has reached its limit. */
  acquire(network: string, now: number): SmtpSessionUsage | undefined {
    const open = this.#byNetwork.get(network) ?? 0;
    if (open >= maxSmtpSessionsPerNetwork) return undefined;
    this.#byNetwork.set(network, open + 1);
    return new SmtpSessionUsage(network, now);
  }

  release({ network }: SmtpSessionUsage): void {
    const open = (this.#byNetwork.get(network) ?? 0) - 1;
    if (open > 0) this.#byNetwork.set(network, open);
    else this.#byNetwork.delete(network);
  }
}
