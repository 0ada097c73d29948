import { type Holding, Limiter, type Policy } from '../fairness/limiter.ts';
import { networksOf } from './ip-address.ts';

/** Reading this much takes no time. Timers are coarse, and usual messages shouldn't wait for them. */
const maxAheadMs = 4;
/** Work that each chunk makes, however small it is. */
const chunkBytes = 1_024;

/** How fast bytes are read, shared evenly by the groups (accounts, networks) that would read more. */
export class SharedPace {
  readonly #bytesPerMs: number;
  /** When the bytes that a group has read are paid for, in monotonic milliseconds. */
  readonly #paidAt = new Map<string, number>();
  #sweepAt = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  /**
   * Takes a chunk.
   * @param now monotonic milliseconds
   * @returns how many milliseconds to wait before the next one is read
   */
  take(group: string, bytes: number, now = performance.now()): number {
    this.#sweep(now);
    const start = Math.max(now, this.#paidAt.get(group) ?? now);
    this.#paidAt.set(group, start);
    const paidAt = start + ((bytes + chunkBytes) * this.#paidAt.size) / this.#bytesPerMs;
    this.#paidAt.set(group, paidAt);
    return paidAt - now > maxAheadMs ? paidAt - now : 0;
  }

  #sweep(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + maxAheadMs;
    for (const [group, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(group);
  }
}

/** What a session of an SMTP server can use. */
export interface SmtpSessionLimits {
  /** How the networks of clients share sessions. */
  readonly sessions: Policy;
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

/** A complete message is as much progress as this many bytes. */
const bytesPerMessage = 64 * 1_024;
/** How long a TLS handshake may take. */
export const tlsHandshakeMs = 10_000;

/** Tracks a session's usage against its limits. */
export class SmtpSessionUsage {
  readonly network: string;
  /** Ends the session. */
  end: (reason: string) => void = () => undefined;
  /** A client that has logged in makes no room for strangers. */
  #isKnown = false;
  #progress = 0;
  readonly #limits: SmtpSessionLimits;
  #commands = 0;
  #messages = 0;
  #inTransaction = false;
  #deadline: number;
  #handshakeDeadline = Number.POSITIVE_INFINITY;

  /** @param now milliseconds since the epoch */
  constructor(network: string, limits: SmtpSessionLimits, now: number) {
    this.network = network;
    this.#limits = limits;
    this.#deadline = now + limits.firstIdleMs;
  }

  /** Counts bytes of a message. */
  countBytes(bytes: number): void {
    this.#progress += bytes;
  }

  /** Bytes of messages that arrived, and what complete messages count. */
  get done(): number {
    return this.#progress;
  }

  progress(): number {
    return this.#isKnown ? Number.POSITIVE_INFINITY : this.#progress;
  }

  evict(): void {
    this.end('Too many connections, try again later');
  }

  beginHandshake(now: number): void {
    this.#handshakeDeadline = now + tlsHandshakeMs;
  }

  endHandshake(): void {
    this.#handshakeDeadline = Number.POSITIVE_INFINITY;
  }

  /** Counts a command; false if there were too many since the last message. */
  countCommand(): boolean {
    this.#commands += 1;
    return this.#commands <= this.#limits.commandsPerMessage;
  }

  /** The client has logged in. */
  beginLogin(now: number): void {
    this.#isKnown = true;
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
    this.#progress += bytesPerMessage;
    this.#commands = 0;
    this.#inTransaction = false;
    this.#deadline = now + this.#limits.idleMs;
  }

  isExpired(now: number): boolean {
    return now > Math.min(this.#deadline, this.#handshakeDeadline);
  }
}

/** Open sessions, and how fast they are read. */
export class SmtpSessionSlots {
  readonly #limits: SmtpSessionLimits;
  readonly #slots: Limiter;
  readonly pace: SharedPace;

  constructor(limits: SmtpSessionLimits) {
    this.#limits = limits;
    this.#slots = new Limiter(limits.sessions);
    this.pace = new SharedPace(limits.bytesPerSecond);
  }

  /** Takes a slot, for which another session may end; undefined if there is none for this network. */
  acquire(remoteAddress: string, now: number): SmtpSessionSlot | undefined {
    const networks = networksOf(remoteAddress);
    const usage = new SmtpSessionUsage(networks[0] ?? '', this.#limits, now);
    const holding = this.#slots.tryAcquire(networks, { evictable: usage });
    return holding && { usage, holding };
  }
}

export interface SmtpSessionSlot {
  readonly usage: SmtpSessionUsage;
  readonly holding: Holding;
}
