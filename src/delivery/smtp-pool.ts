import { FairLine } from '../foundation/fair-line.ts';
import type { SmtpServerSettings } from './smtp-server-settings.ts';
import {
  NoSession,
  type SessionOutcome,
  SmtpSession,
  type SmtpTimeouts,
  standardTimeouts,
} from './smtp-session.ts';
import type { OutgoingMail, TransactionEnd, TransactionResult, Transport } from './transport.ts';

export interface PoolOptions {
  /** What we call ourselves in EHLO. */
  readonly name?: string | undefined;
  readonly timeouts?: Partial<SmtpTimeouts>;
  /** How long an unused connection stays open, in milliseconds. */
  readonly idle?: number;
  /** After a failed connection, how long others are answered with its fault instead of trying too. */
  readonly holdOff?: number;
  /** Told about each connection that was greeted. */
  readonly onOpen?: (encrypted: boolean) => void;
  /** Told about each connection that could not be had, before anybody waits for it in vain. */
  readonly onFault?: (error: NoSession) => void;
}

interface Waiting {
  readonly take: (session: SmtpSession | 'open' | NoSession) => void;
}

/** Connections to one server, kept open between messages and bounded in number. */
export class SmtpPool implements Transport {
  readonly #server: SmtpServerSettings;
  readonly #options: PoolOptions;
  readonly #timeouts: SmtpTimeouts;
  readonly #sessions = new Set<SmtpSession>();
  readonly #idle = new Map<SmtpSession, NodeJS.Timeout>();
  readonly #waiting = new FairLine<Waiting>();
  #opening = 0;
  #fault: { readonly error: NoSession; readonly until: number } | undefined;

  constructor(server: SmtpServerSettings, options: PoolOptions = {}) {
    this.#server = server;
    this.#options = options;
    this.#timeouts = { ...standardTimeouts, ...options.timeouts };
  }

  get #place(): string {
    return `${this.#server.host}:${this.#server.port}`;
  }

  async send(
    mail: OutgoingMail,
    releaseDot: () => Promise<boolean>,
    stopping: AbortSignal,
  ): Promise<TransactionResult> {
    for (;;) {
      let session: SmtpSession;
      try {
        const found = await this.#acquire(mail.group ?? '', stopping);
        if (found === undefined) return this.#result({ kind: 'stopped' });
        session = found;
      } catch (error) {
        if (error instanceof NoSession) return this.#result(error.end, error.transcript);
        throw error;
      }
      const reused = session.used > 0;
      const outcome = await session.send(mail, releaseDot);
      await this.#giveBack(session, outcome.end);
      // A server may end a connection that was idle just when it is used again: nothing was said about this message.
      if (reused && endedBefore(outcome)) continue;
      return { ...outcome, server: this.#place };
    }
  }

  /** Connections that are open or being opened. */
  get open(): number {
    return this.#sessions.size + this.#opening;
  }

  /** Connections that are open and not used now. */
  get resting(): number {
    return this.#idle.size;
  }

  /** Says goodbye on a connection that rests. @returns false where there is none */
  endResting(): boolean {
    const [session] = this.#idle.keys();
    if (session === undefined) return false;
    this.#forget(session);
    session.quit();
    return true;
  }

  drop(): void {
    for (const session of this.#sessions) session.drop();
    this.#refuse(new NoSession({ kind: 'stopped' }, []));
  }

  async close(): Promise<void> {
    for (const [session, timer] of this.#idle) {
      clearTimeout(timer);
      session.quit();
    }
    this.#idle.clear();
  }

  #result(end: TransactionEnd, transcript: readonly string[] = []): TransactionResult {
    return { refused: new Map(), end, server: this.#place, transcript };
  }

  /** An open session, or a place to open one; undefined where the service stops first. */
  async #acquire(group: string, stopping: AbortSignal): Promise<SmtpSession | undefined> {
    if (stopping.aborted) return undefined;
    const [idle] = this.#idle.keys();
    if (idle !== undefined) {
      clearTimeout(this.#idle.get(idle));
      this.#idle.delete(idle);
      return idle;
    }
    if (this.#sessions.size + this.#opening < this.#server.connections) return this.#open();
    const turn = await this.#wait(group, stopping);
    if (turn === undefined) return undefined;
    if (turn instanceof NoSession) throw turn;
    return turn === 'open' ? this.#open() : turn;
  }

  #wait(
    group: string,
    stopping: AbortSignal,
  ): Promise<SmtpSession | 'open' | NoSession | undefined> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.delete(group, waiting);
        resolve(undefined);
      };
      const waiting: Waiting = {
        take: (turn) => {
          stopping.removeEventListener('abort', leave);
          resolve(turn);
        },
      };
      stopping.addEventListener('abort', leave, { once: true });
      this.#waiting.add(group, waiting);
    });
  }

  async #open(): Promise<SmtpSession> {
    if (this.#fault !== undefined && performance.now() < this.#fault.until) throw this.#fault.error;
    this.#opening += 1;
    try {
      const session = await SmtpSession.open(this.#server, this.#options.name, this.#timeouts);
      this.#fault = undefined;
      this.#options.onOpen?.(session.encrypted);
      this.#sessions.add(session);
      session.onEnd(() => this.#forget(session));
      return session;
    } catch (error) {
      if (error instanceof NoSession) {
        this.#options.onFault?.(error);
        this.#fault = { error, until: performance.now() + (this.#options.holdOff ?? 1_000) };
        if (this.#sessions.size === 0 && this.#opening === 1) this.#refuse(error);
      }
      throw error;
    } finally {
      this.#opening -= 1;
    }
  }

  async #giveBack(session: SmtpSession, end: TransactionEnd): Promise<void> {
    const accepted = end.kind === 'reply' && Math.floor(end.reply.code / 100) === 2;
    const clean = session.usable && (accepted || end.kind === 'unfit' || (await session.reset()));
    if (!clean || session.used >= this.#server.messagesPerConnection) {
      if (clean) session.quit();
      else session.drop();
      this.#forget(session);
      return;
    }
    session.onEnd(() => this.#forget(session));
    const waiting = this.#waiting.next();
    if (waiting !== undefined) waiting.take(session);
    else this.#rest(session);
  }

  #rest(session: SmtpSession): void {
    const timer = setTimeout(() => {
      this.#forget(session);
      session.quit();
    }, this.#options.idle ?? 10_000);
    this.#idle.set(session, timer);
  }

  /** A place is free: whoever waits longest may open a connection. */
  #forget(session: SmtpSession): void {
    clearTimeout(this.#idle.get(session));
    this.#idle.delete(session);
    if (!this.#sessions.delete(session)) return;
    this.#waiting.next()?.take('open');
  }

  #refuse(error: NoSession): void {
    for (let left = this.#waiting.size; left > 0; left -= 1) this.#waiting.next()?.take(error);
  }
}

function endedBefore({ end }: SessionOutcome): boolean {
  if (end.kind === 'fault')
    return end.stage === 'mail' && (end.fault === 'closed' || end.fault === 'connection');
  return end.kind === 'reply' && end.stage === 'mail' && end.reply.code === 421;
}
