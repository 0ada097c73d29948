/** Sessions of one network, an IPv4 address or an IPv6 /64, among the hundred of all. */
export const maxSmtpSessionsPerNetwork = 10;
/** Commands of a session for each message, NOOP, RSET and HELP included: one with STARTTLS takes seven. */
export const maxCommandsPerMessage = 20;
/** Messages of a session; a sender with more connects again. */
export const maxMessagesPerSmtpSession = 100;
/** From the connection, or the last message, to the next MAIL. */
export const maxIdleMs = 60_000;
/** From MAIL to the end of its message (RFC 5321 section 4.5.3.2.6). */
export const maxTransactionMs = 10 * 60_000;

/** What a session has used of its limits. */
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

  /** Counts a command; false where there were too many since the last message. */
  countCommand(): boolean {
    this.#commands += 1;
    return this.#commands <= maxCommandsPerMessage;
  }

  /** Begins a message; false where the session has had all of its messages. RSET and MAIL anew get no more time. */
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

/** The open sessions by network. */
export class SmtpSessionSlots {
  readonly #byNetwork = new Map<string, number>();

  /** Takes a slot; undefined where the network has all of its own. */
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
