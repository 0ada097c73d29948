import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { parseReply } from './reply.ts';
import type { SmtpServerSettings } from './smtp-server-settings.ts';
import type { FaultKind, OutgoingMail, Stage, TransactionEnd } from './transport.ts';

const maxLineLength = 500;
const firstLines = 60;
const lastLines = 20;

interface Entry {
  readonly tnx?: unknown;
}

/**
 * Records an SMTP dialogue, bounded and without credentials or message text. Implements the logger interface that the
 * connection expects.
 */
class Transcript {
  #head: string[] = [];
  #tail: string[] = [];
  #cut = 0;
  /** While true, the client is sending a credential. */
  secret = false;

  /** Adds our own note about the connection. */
  record(text: string): void {
    this.#add(`* ${text}`);
  }

  /** Returns and clears what was recorded since the last call. */
  drain(): string[] {
    const lines =
      this.#cut === 0
        ? [...this.#head, ...this.#tail]
        : [...this.#head, `* ${this.#cut} lines omitted`, ...this.#tail];
    this.#head = [];
    this.#tail = [];
    this.#cut = 0;
    return lines;
  }

  debug(entry: Entry, message?: unknown): void {
    if (typeof message !== 'string') return;
    if (entry.tnx === 'server')
      for (const line of message.split(/\r?\n/, 200)) this.#add(`< ${line}`);
    else if (entry.tnx === 'client') this.#add(`> ${this.#withoutSecret(message)}`);
  }

  trace(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
  fatal(): void {}

  #withoutSecret(line: string): string {
    const command = /^AUTH\s+\S+/i.exec(line)?.[0];
    if (command !== undefined) return `${command} ***`;
    return this.secret ? '***' : line;
  }

  #add(line: string): void {
    const cut = line.length <= maxLineLength ? line : `${line.slice(0, maxLineLength)}…`;
    if (this.#head.length < firstLines) {
      this.#head.push(cut);
      return;
    }
    this.#tail.push(cut);
    if (this.#tail.length > lastLines) {
      this.#tail.shift();
      this.#cut += 1;
    }
  }
}

/** Fails a message stream whose final dot must not be sent. */
class DotRefused extends Error {
  override name = 'DotRefused';
}

/** Fails a message stream when it couldn't be determined whether the final dot may be sent, so it isn't. */
class DotUnknown extends Error {
  override name = 'DotUnknown';
}

interface HeldMessageHooks {
  /** The server is ready for the text. */
  readonly onText: () => void;
  /** Asks whether the final dot may be sent. */
  readonly releaseDot: () => Promise<boolean>;
  /** The final dot is about to be sent, in the same turn. */
  readonly onDot: () => void;
}

/**
 * A message stream whose end, and with it the final dot, waits for permission, which is requested while the text is
 * being sent to save a round trip. Without permission the stream fails, so the connection never writes the dot.
 */
function holdMessage(raw: Buffer, hooks: HeldMessageHooks): Readable {
  let permission: Promise<boolean> | undefined;
  return new Readable({
    highWaterMark: 1,
    read() {
      if (permission === undefined) {
        hooks.onText();
        permission = hooks.releaseDot();
        this.push(raw);
        return;
      }
      permission.then(
        (granted) => {
          if (!granted) {
            this.destroy(new DotRefused('the lease was lost'));
          } else if (!this.destroyed) {
            hooks.onDot();
            this.push(null);
          }
        },
        (cause: unknown) => this.destroy(new DotUnknown('no reply', { cause })),
      );
    },
  });
}

/** Timeouts in milliseconds. */
export interface SmtpTimeouts {
  /** DNS lookup, connect, greeting and TLS together. */
  readonly connect: number;
  readonly greeting: number;
  /** One command and its reply. */
  readonly command: number;
  /** The message's text. */
  readonly data: number;
  /** From the final dot to its reply. */
  readonly final: number;
}

/** RFC 5321 section 4.5.3.2: 5 minutes for the greeting and each command, 3 for a block of text, 10 after the dot. */
export const defaultTimeouts: SmtpTimeouts = {
  connect: 330_000,
  greeting: 300_000,
  command: 300_000,
  data: 180_000,
  final: 600_000,
};

/** Error details from Nodemailer. */
interface ConnectionError extends Error {
  readonly code?: string | undefined;
  readonly command?: string | undefined;
  readonly response?: string | undefined;
}

/** An envelope, in which Nodemailer keeps the replies to its commands on every way a transaction can end. */
interface SentEnvelope {
  readonly from: string;
  readonly to: string[];
  readonly size: number;
  readonly use8BitMime: boolean;
  readonly dsn?: { readonly envid: string };
  readonly mailError?: ConnectionError;
  readonly rejectedErrors?: readonly ConnectionError[];
}

/** Opening a session failed. */
export class SmtpSessionError extends Error {
  override name = 'SmtpSessionError';
  readonly end: TransactionEnd;
  readonly transcript: readonly string[];

  constructor(end: TransactionEnd, transcript: readonly string[]) {
    super('no SMTP session');
    this.end = end;
    this.transcript = transcript;
  }
}

export interface SmtpSessionOutcome {
  readonly end: TransactionEnd;
  readonly transcript: readonly string[];
}

/** What a server can do (RFC 5321 section 2.2). */
interface SmtpExtensions {
  readonly smtpUtf8: boolean;
  readonly eightBitMime: boolean;
}

/** More replies than a server can owe: a transaction has fewer commands. */
const maxPendingReplies = 2_000;

/** nodemailer's connection as it handles what the server sends. */
interface Receiver {
  _responseQueue: string[];
  _onData(chunk: Buffer): void;
  _onResponseTooLarge(): void;
}

/** Ends when the server sends more replies than it owes, which the library would keep, and take one by one from an array. */
class BoundedConnection extends SMTPConnection {
  _onData(chunk: Buffer): void {
    const receiver = this as unknown as Receiver;
    const receive = (SMTPConnection.prototype as unknown as Receiver)._onData;
    receive.call(this, chunk);
    if (receiver._responseQueue.length > maxPendingReplies) receiver._onResponseTooLarge();
  }
}

/** An authenticated connection to a server that runs one transaction at a time. */
export class SmtpSession {
  readonly #connection: SMTPConnection;
  readonly #timeouts: SmtpTimeouts;
  readonly #transcript: Transcript;
  readonly #extensions: SmtpExtensions;
  #settle: ((end: TransactionEnd) => void) | undefined;
  #onEnd: (() => void) | undefined;
  /** The running transaction needs SMTPUTF8, although its addresses may be ASCII. */
  #announcesSmtpUtf8 = false;
  #used = 0;
  #endedAt = 0;

  private constructor(
    connection: SMTPConnection,
    timeouts: SmtpTimeouts,
    transcript: Transcript,
    extensions: SmtpExtensions,
  ) {
    this.#connection = connection;
    this.#timeouts = timeouts;
    this.#transcript = transcript;
    this.#extensions = extensions;
    connection.on('end', () => this.#onEnd?.());
    this.#announceSmtpUtf8();
  }

  /**
   * Connects, greets, encrypts and authenticates according to the settings.
   * @param name our name in EHLO; undefined: the machine's name
   * @throws SmtpSessionError with the reply or fault
   */
  static async open(
    server: SmtpServerSettings,
    name: string | undefined,
    timeouts: SmtpTimeouts,
  ): Promise<SmtpSession> {
    const transcript = new Transcript();
    const connection = new BoundedConnection({
      host: server.host,
      port: server.port,
      secure: server.implicitTls,
      requireTLS: server.tls === 'required' && !server.implicitTls,
      ignoreTLS: server.tls === 'off',
      opportunisticTLS: server.tls === 'optional',
      connectionTimeout: timeouts.connect,
      greetingTimeout: timeouts.greeting,
      socketTimeout: Math.max(timeouts.command, timeouts.final) + 1_000,
      socketCloseTimeout: 1_000,
      tls: {
        rejectUnauthorized: server.tls !== 'unverified',
        ...(server.serverName !== undefined && { servername: server.serverName }),
        ...(server.ca !== undefined && { ca: server.ca }),
      },
      ...(server.localAddress !== undefined && { localAddress: server.localAddress }),
      ...(name !== undefined && { name }),
      logger: transcript,
      transactionLog: true,
    });
    const extensions = await connect(connection, server, transcript, timeouts);
    return new SmtpSession(connection, timeouts, transcript, extensions);
  }

  /** Transactions so far. */
  get used(): number {
    return this.#used;
  }

  /** Milliseconds since the last transaction ended. */
  get idleMs(): number {
    return performance.now() - this.#endedAt;
  }

  /** The server's reply if it closed the session itself (421, RFC 5321 section 3.8). */
  get closingReply(): string | undefined {
    const last = String(this.#connection.lastServerResponse);
    return last.startsWith('421') ? last : undefined;
  }

  get encrypted(): boolean {
    return this.#connection.secure;
  }

  /** True if another transaction can be made. */
  get usable(): boolean {
    return !this.#connection.destroyed;
  }

  /** Calls the listener once the connection has ended. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  /** Runs one transaction; see `SendMail`. */
  async send(mail: OutgoingMail, releaseDot: () => Promise<boolean>): Promise<SmtpSessionOutcome> {
    if (this.#used > 0) this.#transcript.record('connection reused');
    this.#used += 1;
    const end =
      mail.needsSmtpUtf8 && !this.#extensions.smtpUtf8
        ? // RFC 6531 section 3.2: such a message must not go to a server without the extension.
          ({
            kind: 'unfit',
            cause: 'unsupported',
            text: 'the server doesn’t support internationalized addresses (SMTPUTF8)',
          } as const)
        : await this.#transact(mail, await this.#encode(mail), releaseDot);
    this.#endedAt = performance.now();
    return { end, transcript: this.#transcript.drain() };
  }

  /**
   * Resets a rejected transaction so that the next one starts clean.
   * @returns false if the connection is unusable
   */
  reset(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.drop(), this.#timeouts.command);
      this.onEnd(() => resolve(false));
      this.#connection.reset((error) => {
        clearTimeout(timer);
        this.#transcript.drain();
        resolve(error === null);
      });
    });
  }

  /** Closes the connection with QUIT. */
  quit(): void {
    if (!this.usable) return;
    const timer = setTimeout(() => this.#connection.close(), 2_000);
    timer.unref();
    this.#connection.quit();
  }

  /** Drops the connection immediately. A running transaction ends as stopped or uncertain. */
  drop(): void {
    this.#connection.close();
    this.#settle?.({ kind: 'stopped' });
  }

  /** Before it is signed, because a server on the way would have to encode it (RFC 6152 section 3). */
  #encode(mail: OutgoingMail): MaybePromise<Buffer> {
    const anyServer = mail.toSevenBit === undefined || this.#extensions.eightBitMime;
    return anyServer ? mail.raw : mail.toSevenBit();
  }

  /** RFC 6531 section 3.4 requires the parameter for the message too, but Nodemailer looks only at the addresses. */
  #announceSmtpUtf8(): void {
    const commands = this.#connection as unknown as { _sendCommand(line: string): void };
    const send = commands._sendCommand.bind(this.#connection);
    commands._sendCommand = (line, ...more) => {
      const lacks =
        this.#announcesSmtpUtf8 && line.startsWith('MAIL FROM:') && !/ SMTPUTF8(?: |$)/.test(line);
      send(lacks ? `${line} SMTPUTF8` : line, ...more);
    };
  }

  #transact(
    mail: OutgoingMail,
    raw: Buffer,
    releaseDot: () => Promise<boolean>,
  ): Promise<TransactionEnd> {
    return new Promise((resolve) => {
      let stage: Stage = 'mail';
      let timer: NodeJS.Timeout | undefined;
      let settled = false;
      const envelope: SentEnvelope = {
        from: mail.from,
        to: [mail.to],
        size: raw.length,
        use8BitMime: mail.toSevenBit !== undefined && this.#extensions.eightBitMime,
        ...(mail.envelopeId !== undefined && { dsn: { envid: mail.envelopeId } }),
      };
      const settle = (end: TransactionEnd): void => {
        settled = true;
        clearTimeout(timer);
        this.#settle = undefined;
        // The dot was sent, so after any later error it is unknown what the server did.
        const unknown = stage === 'final' && (end.kind === 'fault' || end.kind === 'stopped');
        resolve(
          unknown ? { kind: 'uncertain', text: textOf(end) } : (refusalOf(envelope, end) ?? end),
        );
      };
      const enter = (next: Stage, timeoutMs: number): void => {
        if (settled) return;
        stage = next;
        clearTimeout(timer);
        timer = setTimeout(() => {
          settle({
            kind: 'fault',
            stage,
            fault: 'timeout',
            text: `no reply for ${timeoutMs / 1_000} s`,
          });
          this.#connection.close();
        }, timeoutMs);
      };
      this.#settle = settle;
      enter('mail', this.#timeouts.command);
      const held = holdMessage(raw, {
        onText: () => enter('data', this.#timeouts.data),
        releaseDot,
        onDot: () => enter('final', this.#timeouts.final),
      });
      this.#announcesSmtpUtf8 = mail.needsSmtpUtf8;
      this.#connection.send(envelope, held, (error: ConnectionError | null, info) => {
        if (error !== null) this.#fail(error, stage, settle);
        else if (stage === 'final')
          settle({ kind: 'reply', stage, reply: parseReply(info.response) });
        else this.#fail(new Error('the server replied before the final dot'), stage, settle);
      });
    });
  }

  #fail(error: ConnectionError, stage: Stage, settle: (end: TransactionEnd) => void): void {
    if (error instanceof DotRefused) {
      settle({ kind: 'lost' });
      this.#connection.close();
      return;
    }
    if (error instanceof DotUnknown) {
      settle({ kind: 'fault', stage, fault: 'database', text: 'the final dot was not sent' });
      this.#connection.close();
      return;
    }
    settle(endOf(error, stage));
    // After an error outside the dialogue or in the middle of the text, the two sides are out of sync.
    if (error.response === undefined || stage === 'data') this.#connection.close();
  }
}

function connect(
  connection: SMTPConnection,
  server: SmtpServerSettings,
  transcript: Transcript,
  timeouts: SmtpTimeouts,
): Promise<SmtpExtensions> {
  return new Promise((resolve, reject) => {
    const fail = (error: ConnectionError): void => {
      clearTimeout(timer);
      connection.close();
      reject(new SmtpSessionError(endOf(error, 'connect'), transcript.drain()));
    };
    const connected = (extensions: SmtpExtensions): void => {
      clearTimeout(timer);
      resolve(extensions);
    };
    const timer = setTimeout(() => {
      fail(Object.assign(new Error('the server took too long'), { code: 'ETIMEDOUT' }));
    }, timeouts.connect + timeouts.command);
    connection.on('error', fail);
    connection.connect((error) => {
      if (error) return fail(error);
      const reply = String(connection.lastServerResponse);
      const extensions = {
        smtpUtf8: /[ -]SMTPUTF8\b/im.test(reply),
        eightBitMime: /[ -]8BITMIME\b/im.test(reply),
      };
      const { user, password: pass, mechanism } = server;
      if (user === undefined) return connected(extensions);
      transcript.secret = true;
      const method = mechanism === undefined ? {} : { method: mechanism };
      connection.login({ user, pass: pass ?? '', ...method }, (refusal) => {
        transcript.secret = false;
        if (refusal) fail(refusal);
        else connected(extensions);
      });
    });
  });
}

const stageOfCommand: Readonly<Record<string, Stage>> = {
  'MAIL FROM': 'mail',
  'RCPT TO': 'rcpt',
  DATA: 'data',
};

function endOf(error: ConnectionError, stage: Stage): TransactionEnd {
  // A rejected STARTTLS is a reply too, but says nothing about the message.
  if (error.code === 'ETLS') {
    const reply = error.response === undefined ? '' : `: ${error.response}`;
    return { kind: 'fault', stage, fault: 'tls', text: plain(error.message + reply) };
  }
  if (error.response !== undefined) {
    const at = stage === 'mail' ? (stageOfCommand[error.command ?? ''] ?? stage) : stage;
    return { kind: 'reply', stage: at, reply: parseReply(error.response) };
  }
  if (error.code === 'EMESSAGE' && stage === 'mail')
    return { kind: 'unfit', cause: 'size', text: error.message };
  return { kind: 'fault', stage, fault: faultOf(error), text: plain(error.message) };
}

const faults: Readonly<Record<string, FaultKind>> = {
  EDNS: 'name',
  ETLS: 'tls',
  ETIMEDOUT: 'timeout',
  ECONNECTION: 'closed',
  EPROTOCOL: 'protocol',
};

function faultOf(error: ConnectionError): FaultKind {
  const known = faults[error.code ?? ''];
  if (known !== undefined) return known;
  if (error.code === undefined) return 'protocol';
  return /certificate|\bssl\b|\btls\b/i.test(error.message) ? 'tls' : 'connection';
}

/**
 * The refusal of the recipient stands, whatever fault follows (RFC 5321 section 3.3). After a refused MAIL, the reply to a
 * pipelined RCPT only says that there is no transaction (RFC 2920 section 3.1).
 */
function refusalOf(envelope: SentEnvelope, end: TransactionEnd): TransactionEnd | undefined {
  const [refusal] = envelope.rejectedErrors ?? [];
  if (end.kind !== 'fault' || envelope.mailError !== undefined) return undefined;
  if (refusal?.response === undefined) return undefined;
  return { kind: 'reply', stage: 'rcpt', reply: parseReply(refusal.response) };
}

function textOf(end: TransactionEnd): string {
  if (end.kind === 'fault') return `${end.text} after the final dot`;
  return 'the connection was dropped after the final dot';
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 300);
}
