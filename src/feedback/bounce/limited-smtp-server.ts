import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { Clock } from '../../foundation/clock.ts';
import { networkOf } from '../../foundation/network/ip-address.ts';
import { PeriodicTask } from '../../foundation/periodic-task.ts';
import { SmtpSessionSlots, type SmtpSessionUsage } from './smtp-session-limits.ts';

type Connection = SMTPServer['connections'] extends Set<infer Item> ? Item : never;

const sweepIntervalMs = 1_000;

/**
 * An SMTP server that limits sessions per IP address, and the time and commands per message. smtp-server itself closes
 * only silent connections, so a client that repeats NOOP could hold a slot forever.
 */
export class LimitedSmtpServer extends SMTPServer {
  readonly #clock: Clock;
  readonly #slots = new SmtpSessionSlots();
  readonly #open = new Map<
    string,
    { readonly connection: Connection; readonly usage: SmtpSessionUsage }
  >();
  readonly #sweep = new PeriodicTask(sweepIntervalMs, () => this.#endExpired());

  constructor(options: SMTPServerOptions, clock: Clock) {
    super(options);
    this.#clock = clock;
    this.#sweep.start();
  }

  /** A session's usage; undefined once it has ended. */
  usageOf(session: Pick<SMTPServerSession, 'id'>): SmtpSessionUsage | undefined {
    return this.#open.get(session.id)?.usage;
  }

  override connect(socket: Socket, options?: Parameters<SMTPServer['connect']>[1]): void {
    const usage = this.#slots.acquire(networkOf(socket.remoteAddress ?? ''), this.#clock.now());
    if (usage === undefined) {
      socket.on('error', () => undefined);
      // 421, so that honest senders retry (RFC 5321 section 4.2.1).
      socket.end('421 4.7.0 Too many connections from your IP address, try again later\r\n', () =>
        socket.destroy(),
      );
      return;
    }
    const existing = new Set(this.connections);
    super.connect(socket, options);
    const connection = [...this.connections].find((other) => !existing.has(other));
    socket.once('close', () => {
      this.#slots.release(usage);
      if (connection !== undefined) this.#open.delete(connection.id);
    });
    if (connection === undefined) return;
    this.#open.set(connection.id, { connection, usage });
    const perform = connection._onCommand.bind(connection);
    connection._onCommand = (command, done) => {
      if (usage.countCommand()) perform(command, done);
      else connection.send(421, 'Too many commands without a message');
    };
  }

  override close(callback: () => void): void {
    void this.#sweep.stop();
    super.close(callback);
  }

  #endExpired(): void {
    const now = this.#clock.now();
    for (const { connection, usage } of this.#open.values())
      if (usage.isExpired(now)) connection.send(421, 'Session timed out');
  }
}
