import { FairQueue } from '../../base/fairness/fair-queue.ts';
import { formatReply, parseReply } from './reply.ts';
import type { SmtpServerSettings } from './smtp-server-settings.ts';
import {
  defaultTimeouts,
  SmtpSession,
  SmtpSessionError,
  type SmtpSessionOutcome,
  type SmtpTimeouts,
} from './smtp-session.ts';
import {
  isSmtpSessionLimit,
  type SmtpSessionEnd,
  type SmtpSessionRefusal,
} from './smtp-session-limit.ts';
import {
  type AdmittedTransaction,
  admitAlways,
  type OutgoingMail,
  type TransactionEnd,
  type TransactionResult,
  type Transport,
  withoutServer,
} from './transport.ts';

export interface PoolOptions {
  /** Our name in EHLO. */
  readonly name?: string | undefined;
  readonly timeouts?: Partial<SmtpTimeouts>;
  /** How long an idle connection stays open, in milliseconds. */
  readonly idle?: number;
  /** How long other transactions fail with the same fault after a failed connection, in milliseconds. */
  readonly holdOffMs?: number;
}

/** Called for each connection a transaction opens: whether it is encrypted, or why it failed. */
export type OnConnect = (outcome: { readonly encrypted: boolean } | SmtpSessionError) => void;

interface WaitingTransaction {
  readonly onTurn: (session: SmtpSession | 'open' | SmtpSessionError) => void;
}

/** A bounded pool of connections to one server that are reused between messages. */
export class SmtpPool implements Transport {
  readonly #server: SmtpServerSettings;
  readonly #options: PoolOptions;
  readonly #timeouts: SmtpTimeouts;
  readonly #sessions = new Set<SmtpSession>();
  readonly #idle = new Map<SmtpSession, NodeJS.Timeout>();
  readonly #waiting = new FairQueue<WaitingTransaction>();
  #opening = 0;
  #messagesPerConnection: number;
  #ends: SmtpSessionEnd[] = [];
  #fault: { readonly error: SmtpSessionError; readonly until: number } | undefined;

  constructor(server: SmtpServerSettings, options: PoolOptions = {}) {
    this.#server = server;
    this.#messagesPerConnection = server.messagesPerConnection;
    this.#options = options;
    this.#timeouts = { ...defaultTimeouts, ...options.timeouts };
  }

  /** Messages per connection from now on. */
  set messagesPerConnection(count: number) {
    this.#messagesPerConnection = count;
  }

  get #hostPort(): string {
    return `${this.#server.host}:${this.#server.port}`;
  }

  async send(
    mail: OutgoingMail,
    releaseDot: () => Promise<boolean>,
    stopping: AbortSignal,
    onConnect?: OnConnect,
  ): Promise<TransactionResult> {
    for (;;) {
      let session: SmtpSession;
      try {
        const found = await this.#acquire(mail.group ?? '', stopping, onConnect);
        if (found === undefined) return this.#result({ kind: 'stopped' });
        session = found;
      } catch (error) {
        if (error instanceof SmtpSessionError) return this.#result(error.end, error.transcript);
        throw error;
      }
      const { used, idleMs } = session;
      const outcome = await session.send(mail, releaseDot);
      const refusal = used > 0 ? readRefusal(outcome, used, idleMs) : undefined;
      await this.#release(session, outcome.end, refusal);
      // The server may close an idle connection just as it is reused; that says nothing about this message.
      if (used > 0 && (endedBeforeMail(outcome) || needsNewSession(outcome, refusal))) continue;
      return { ...outcome, server: this.#hostPort, sessionEnds: this.#drainEnds() };
    }
  }

  async admit(): Promise<AdmittedTransaction> {
    return admitAlways((mail, releaseDot, stopping) => this.send(mail, releaseDot, stopping));
  }

  /** Connections that are open or being opened. */
  get open(): number {
    return this.#sessions.size + this.#opening;
  }

  get idleCount(): number {
    return this.#idle.size;
  }

  /**
   * Closes an idle connection with QUIT.
   * @returns false if there is none
   */
  closeIdle(): boolean {
    const [session] = this.#idle.keys();
    if (session === undefined) return false;
    this.#remove(session);
    session.quit();
    return true;
  }

  drop(): void {
    for (const session of this.#sessions) session.drop();
    this.#failWaiting(new SmtpSessionError({ kind: 'stopped' }, []));
  }

  async close(): Promise<void> {
    for (const [session, timer] of this.#idle) {
      clearTimeout(timer);
      session.quit();
    }
    this.#idle.clear();
  }

  #result(end: TransactionEnd, transcript: readonly string[] = []): TransactionResult {
    return { ...withoutServer(end, this.#hostPort), transcript, sessionEnds: this.#drainEnds() };
  }

  #drainEnds(): SmtpSessionEnd[] {
    const ends = this.#ends;
    if (ends.length > 0) this.#ends = [];
    return ends;
  }

  #recordEnd(end: SmtpSessionEnd): void {
    if (this.#ends.length < maxEnds) this.#ends.push(end);
  }

  /** An open session, or permission to open one; undefined if the service stops first. */
  async #acquire(
    group: string,
    stopping: AbortSignal,
    onConnect: OnConnect | undefined,
  ): Promise<SmtpSession | undefined> {
    if (stopping.aborted) return undefined;
    for (const [idle, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(idle);
      if (idle.used < this.#messagesPerConnection) return idle;
      this.#closeFull(idle);
    }
    if (this.#sessions.size + this.#opening < this.#server.connections)
      return this.#open(onConnect);
    const turn = await this.#wait(group, stopping);
    if (turn === undefined) return undefined;
    if (turn instanceof SmtpSessionError) throw turn;
    return turn === 'open' ? this.#open(onConnect) : turn;
  }

  #wait(
    group: string,
    stopping: AbortSignal,
  ): Promise<SmtpSession | 'open' | SmtpSessionError | undefined> {
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#waiting.delete(group, waiting);
        resolve(undefined);
      };
      const waiting: WaitingTransaction = {
        onTurn: (turn) => {
          stopping.removeEventListener('abort', onAbort);
          resolve(turn);
        },
      };
      stopping.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(group, waiting);
    });
  }

  async #open(onConnect: OnConnect | undefined): Promise<SmtpSession> {
    if (this.#fault !== undefined && performance.now() < this.#fault.until) {
      // Nobody else would ever have a connection for them.
      if (this.open === 0) this.#failWaiting(this.#fault.error);
      throw this.#fault.error;
    }
    this.#opening += 1;
    try {
      const session = await SmtpSession.open(this.#server, this.#options.name, this.#timeouts);
      this.#fault = undefined;
      onConnect?.(session);
      this.#sessions.add(session);
      session.onEnd(() => this.#remove(session));
      return session;
    } catch (error) {
      if (error instanceof SmtpSessionError) {
        onConnect?.(error);
        this.#fault = { error, until: performance.now() + (this.#options.holdOffMs ?? 1_000) };
        if (this.#sessions.size === 0 && this.#opening === 1) this.#failWaiting(error);
      }
      throw error;
    } finally {
      this.#opening -= 1;
    }
  }

  async #release(
    session: SmtpSession,
    end: TransactionEnd,
    refusal: SmtpSessionRefusal | undefined,
  ): Promise<void> {
    const accepted = end.kind === 'reply' && Math.floor(end.reply.code / 100) === 2;
    if (refusal !== undefined) this.#recordEnd(refusal);
    if (refusal?.named === true) {
      this.#messagesPerConnection = Math.min(this.#messagesPerConnection, refusal.after);
      session.quit();
      this.#remove(session);
      return;
    }
    const clean = session.usable && (accepted || end.kind === 'unfit' || (await session.reset()));
    if (!clean) {
      if (accepted) this.#recordClosed(session);
      session.drop();
      this.#remove(session);
      return;
    }
    if (session.used >= this.#messagesPerConnection) {
      this.#closeFull(session);
      return;
    }
    session.onEnd(() => {
      if (this.#idle.has(session)) this.#recordClosed(session);
      this.#remove(session);
    });
    const waiting = this.#waiting.next();
    if (waiting !== undefined) waiting.onTurn(session);
    else this.#addIdle(session);
  }

  /** Closes a connection that has reached its message limit. */
  #closeFull(session: SmtpSession): void {
    this.#recordEnd({ kind: 'full', after: session.used });
    this.#remove(session);
    session.quit();
  }

  /** The server closed the session between two messages. */
  #recordClosed(session: SmtpSession): void {
    const { used: after, idleMs, closingReply } = session;
    const reply = closingReply === undefined ? undefined : parseReply(closingReply);
    const named = reply !== undefined && isSmtpSessionLimit(reply);
    if (!named && idleMs > promptCloseMs) return;
    const text = reply === undefined ? closedText : formatReply(reply);
    this.#recordEnd({ kind: 'refused', after, text, named });
  }

  #addIdle(session: SmtpSession): void {
    const timer = setTimeout(() => {
      this.#remove(session);
      session.quit();
    }, this.#options.idle ?? 10_000);
    this.#idle.set(session, timer);
  }

  /** Frees a slot, so the longest waiter may open a connection. */
  #remove(session: SmtpSession): void {
    clearTimeout(this.#idle.get(session));
    this.#idle.delete(session);
    if (!this.#sessions.delete(session)) return;
    this.#waiting.next()?.onTurn('open');
  }

  #failWaiting(error: SmtpSessionError): void {
    for (let left = this.#waiting.size; left > 0; left -= 1) this.#waiting.next()?.onTurn(error);
  }
}

/** Max session ends kept until they are reported. */
const maxEnds = 100;
/** A session that ends later than this, in milliseconds, may have been idle too long. */
const promptCloseMs = 1_000;
const closedText = 'the server closed the connection';

/** The refusal if the transaction failed because of its reused session, which had carried `used` messages. */
function readRefusal(
  { end }: SmtpSessionOutcome,
  used: number,
  idleMs: number,
): SmtpSessionRefusal | undefined {
  if (end.kind === 'reply' && isSmtpSessionLimit(end.reply))
    return { kind: 'refused', after: used, text: formatReply(end.reply), named: true };
  if (!endedBeforeMail({ end }) || idleMs > promptCloseMs) return undefined;
  const text = end.kind === 'reply' ? formatReply(end.reply) : closedText;
  return { kind: 'refused', after: used, text, named: false };
}

/** Before DATA the server has seen only addresses, so the message can be sent in another session. */
function needsNewSession(
  { end }: SmtpSessionOutcome,
  refusal: SmtpSessionRefusal | undefined,
): boolean {
  if (refusal?.named !== true || end.kind !== 'reply') return false;
  return end.stage === 'mail' || end.stage === 'rcpt';
}

/** Whether the session had already ended when MAIL was sent. */
function endedBeforeMail({ end }: Pick<SmtpSessionOutcome, 'end'>): boolean {
  if (end.kind === 'fault')
    return end.stage === 'mail' && (end.fault === 'closed' || end.fault === 'connection');
  return end.kind === 'reply' && end.stage === 'mail' && end.reply.code === 421;
}
