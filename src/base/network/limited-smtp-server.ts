import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { PeriodicTask } from '../threads/periodic-task.ts';
import type { Clock } from '../values/clock.ts';
import type { SmtpReplyError } from './smtp-listener.ts';
import type { SmtpSessionSlot, SmtpSessionSlots, SmtpSessionUsage } from './smtp-session-limits.ts';

type Connection = SMTPServer['connections'] extends Set<infer Item> ? Item : never;
type Parser = Exclude<Connection['_parser'], false>;

const sweepIntervalMs = 1_000;
/** A session ends after this many times the max message size: more isn't a message. */
const maxSizes = 2;
/** What a client may still be sending when its session ends. */
const maxDiscardedBytes = 64 * 1_024;

/** Text that begins with an enhanced status code (RFC 3463). */
const withStatus = /^[245]\.\d{1,3}\.\d{1,3} /;
/** RFC 3207 section 4: the commands that a server may require TLS for. */
const commandsBeforeTls = new Set(['EHLO', 'HELO', 'NOOP', 'QUIT', 'RSET', 'HELP', 'STARTTLS']);

export interface LimitedSmtpOptions {
  /** The reply to commands other than STARTTLS before TLS; undefined: TLS isn't required. */
  readonly requireTls?: SmtpReplyError;
}

/**
 * An SMTP server that limits sessions by network, the time and commands per message, and what sessions send. A session has its
 * slot from the moment it connects, before a TLS handshake. smtp-server
 * itself closes only silent connections, so a client that repeats NOOP could hold a slot forever, and it reads whatever comes
 * as fast as it comes, so a few endless messages would take all the time of the process.
 */
export class LimitedSmtpServer extends SMTPServer {
  readonly #clock: Clock;
  readonly #slots: SmtpSessionSlots;
  readonly #requireTls: LimitedSmtpOptions['requireTls'];
  /** All that have a slot. */
  readonly #usages = new Set<SmtpSessionUsage>();
  /** Of sessions that have begun, by ID. */
  readonly #open = new Map<string, SmtpSessionUsage>();
  /** By the socket that the session begins with. */
  readonly #accepted = new WeakMap<Socket, SmtpSessionSlot>();
  readonly #sweep = new PeriodicTask(sweepIntervalMs, () => this.#endExpired());

  /** @param slots servers can share them */
  constructor(
    options: SMTPServerOptions,
    slots: SmtpSessionSlots,
    clock: Clock,
    { requireTls }: LimitedSmtpOptions = {},
  ) {
    super(options);
    this.#requireTls = requireTls;
    this.#slots = slots;
    this.#clock = clock;
    this.#sweep.start();
  }

  /** A session's usage; undefined once it has ended. */
  usageOf(session: Pick<SMTPServerSession, 'id'>): SmtpSessionUsage | undefined {
    return this.#open.get(session.id);
  }

  override _acceptSocket(socket: Socket, isHandshake: boolean): (() => void) | false {
    const now = this.#clock.now();
    const slot = this.#slots.acquire(socket.remoteAddress ?? '', now);
    if (slot === undefined) {
      socket.on('error', () => undefined);
      if (isHandshake) socket.destroy();
      // 421, so that honest senders retry (RFC 5321 section 4.2.1).
      else
        socket.end('421 4.7.0 Too many connections from your IP address, try again later\r\n', () =>
          socket.destroy(),
        );
      return false;
    }
    const { usage } = slot;
    if (isHandshake) usage.beginHandshake(now);
    usage.end = () => (this._pendingSockets.get(socket) ?? socket).destroy();
    this.#usages.add(usage);
    this.#accepted.set(socket, slot);
    socket.once('close', () => this.#leave(slot));
    return super._acceptSocket(socket, isHandshake);
  }

  override _upgrade(...[socket, done]: Parameters<SMTPServer['_upgrade']>): void {
    super._upgrade(socket, (error, secured) => {
      const slot = this.#accepted.get(socket);
      if (slot !== undefined && secured !== undefined) this.#accepted.set(secured, slot);
      done(error, secured);
    });
  }

  #leave({ usage, holding }: SmtpSessionSlot): void {
    this.#usages.delete(usage);
    holding.release();
  }

  override connect(socket: Socket, options?: Parameters<SMTPServer['connect']>[1]): void {
    const slot = this.#accepted.get(socket);
    // It closed meanwhile.
    if (slot === undefined || socket.destroyed) return void socket.destroy();
    const { usage } = slot;
    usage.endHandshake();
    const existing = new Set(this.connections);
    super.connect(socket, options);
    const connection = [...this.connections].find((other) => !existing.has(other));
    if (connection === undefined) return;
    usage.end = (reason) => {
      connection.send(421, reason);
      // It would wait for the end of the handshake, and in it the client can't be told.
      if (connection._upgrading) connection._socket.destroy();
    };
    this.#open.set(connection.id, usage);
    const end = connection._onClose.bind(connection);
    // STARTTLS removes all listeners of the socket.
    connection._onClose = () => {
      this.#open.delete(connection.id);
      this.#leave(slot);
      end();
    };
    const upgrade = connection.upgrade.bind(connection);
    connection.upgrade = (resume, whenSecure) => {
      usage.beginHandshake(this.#clock.now());
      upgrade(resume, () => {
        usage.endHandshake();
        whenSecure?.();
      });
    };
    this.#limitBytes(connection, usage);
    const perform = connection._onCommand.bind(connection);
    connection._onCommand = (command, done) => {
      if (!usage.countCommand()) connection.send(421, 'Too many commands without a message');
      else if (this.#needsTls(connection, command)) {
        connection.send(this.#requireTls?.responseCode ?? 530, this.#requireTls?.message);
        setImmediate(() => done?.());
      } else perform(command, done);
    };
    const send = connection.send.bind(connection);
    // Replies that set a status code don't get the default one.
    connection.send = (code, data, context) =>
      send(code, data, typeof data === 'string' && withStatus.test(data) ? false : context);
  }

  /** While a parser hasn't taken a chunk, its socket isn't read. */
  #limitBytes(connection: Connection, usage: SmtpSessionUsage): void {
    const { pace } = this.#slots;
    const maxBytes = maxSizes * (this.options.size ?? Number.POSITIVE_INFINITY);
    const limit = (parser: Parser): Parser => {
      const write = parser._write.bind(parser);
      parser._write = (chunk, encoding, next) => {
        if (parser._dataMode && parser.dataBytes > maxBytes)
          connection.send(421, '4.7.0 Too much data in a message');
        if (parser._dataMode) usage.countBytes(chunk.length);
        const { user } = connection.session;
        const waitMs = pace.take(user ? `account ${user}` : usage.network, chunk.length);
        if (waitMs === 0) write(chunk, encoding, next);
        else setTimeout(write, waitMs, chunk, encoding, next).unref();
      };
      return parser;
    };
    if (connection._parser !== false) limit(connection._parser);
    // TLS begins with a new one.
    const createParser = connection._createParser.bind(connection);
    connection._createParser = () => limit(createParser());
    const close = connection.close.bind(connection);
    connection.close = () => {
      const isFirst = !connection._closing;
      close();
      // The socket belongs to a handshake otherwise.
      if (isFirst && !connection._upgrading) limitDiscarded(connection._socket);
    };
  }

  #needsTls(connection: Connection, command: Buffer): boolean {
    if (this.#requireTls === undefined || connection.secure) return false;
    const [name = ''] = command.toString('latin1').split(' ', 1);
    return !commandsBeforeTls.has(name.trim().toUpperCase());
  }

  override close(callback: () => void): void {
    void this.#sweep.stop();
    super.close(callback);
  }

  #endExpired(): void {
    const now = this.#clock.now();
    for (const usage of this.#usages) if (usage.isExpired(now)) usage.end('Session timed out');
  }
}

/** smtp-server reads a closed session's socket until the client closes it or five seconds have passed. */
function limitDiscarded(socket: Socket): void {
  let discarded = 0;
  socket.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > maxDiscardedBytes) socket.pause();
  });
}
