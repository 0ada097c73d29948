import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

export interface BenchSessionOptions {
  /** On this machine. */
  readonly port: number;
  /** TLS from the start; otherwise with STARTTLS. */
  readonly secure?: boolean;
  /** A loopback address to connect from. */
  readonly localAddress?: string;
  /** Timeout without any traffic; 0: none. */
  readonly timeoutMs?: number;
}

/** A connection ended, or a reply took too long, before the outcome of a command was known. */
export class BenchSessionLost extends Error {
  override readonly name = 'BenchSessionLost';
}

const anyCertificate = { rejectUnauthorized: false } as const;
/** The last line of a reply (RFC 5321 section 4.2.1). */
const lastLine = /^(\d{3}) /;

/** An SMTP client with TLS that costs as little as possible: it pipelines (RFC 2920), and reads only reply codes. */
export class BenchSmtpSession {
  #socket: Socket;
  #rest = '';
  readonly #waiting: PromiseWithResolvers<number>[] = [];
  readonly #timeoutMs: number;
  #lost = false;

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    socket.setNoDelay(true);
    this.#listen();
  }

  /** Connects, starts TLS and says EHLO. @throws BenchSessionLost */
  static async open(options: BenchSessionOptions): Promise<BenchSmtpSession> {
    const { port, secure = false, localAddress, timeoutMs = 20_000 } = options;
    const target = { host: '127.0.0.1', port, ...(localAddress !== undefined && { localAddress }) };
    const socket = secure ? connectTls({ ...target, ...anyCertificate }) : connect(target);
    const session = new BenchSmtpSession(socket, timeoutMs);
    await session.#reply();
    if (!secure) {
      await session.command('EHLO bench.test');
      await session.command('STARTTLS');
      await session.#startTls();
    }
    await session.command('EHLO bench.test');
    return session;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  async #startTls(): Promise<void> {
    const plain = this.#socket;
    plain.removeAllListeners('data');
    plain.setTimeout(0);
    const secured: TLSSocket = connectTls({ socket: plain, ...anyCertificate });
    this.#socket = secured;
    this.#rest = '';
    this.#listen();
    const end = Promise.withResolvers<never>();
    secured.once('close', () => end.reject(new BenchSessionLost()));
    end.promise.catch(() => undefined);
    await Promise.race([once(secured, 'secureConnect'), end.promise]).catch(() => {
      throw new BenchSessionLost();
    });
  }

  #listen(): void {
    const socket = this.#socket;
    socket.setTimeout(this.#timeoutMs, () => this.close());
    socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#lost = true;
      for (const { reject } of this.#waiting.splice(0)) reject(new BenchSessionLost());
    });
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\r\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, code] = lastLine.exec(line) ?? [];
      if (code !== undefined) this.#waiting.shift()?.resolve(Number(code));
    }
  }

  #reply(): Promise<number> {
    const waiter = Promise.withResolvers<number>();
    // Of several pipelined commands, only the first is awaited when the connection ends.
    waiter.promise.catch(() => undefined);
    if (this.#lost) waiter.reject(new BenchSessionLost());
    else this.#waiting.push(waiter);
    return waiter.promise;
  }

  /** @returns the code of the reply. @throws BenchSessionLost */
  command(line: string): Promise<number> {
    const reply = this.#reply();
    this.#socket.write(`${line}\r\n`);
    return reply;
  }

  /** AUTH PLAIN (RFC 4616). @returns the code of the reply. @throws BenchSessionLost */
  login(user: string, password: string): Promise<number> {
    const token = Buffer.from(`\0${user}\0${password}`).toString('base64');
    return this.command(`AUTH PLAIN ${token}`);
  }

  /**
   * Submits a message to all its recipients or to none: if one is refused, the message isn't sent, and the session ends if
   * that is the only way.
   * @param source with CRLF line ends, as from `toWire`
   * @returns the code of the reply to the message, or of the first command that was refused
   * @throws BenchSessionLost
   */
  async submit(
    from: string,
    recipients: readonly string[],
    source: readonly (string | Buffer)[],
  ): Promise<number> {
    const commands = [
      `MAIL FROM:<${from}>`,
      ...recipients.map((address) => `RCPT TO:<${address}>`),
      'DATA',
    ];
    const replies = commands.map(() => this.#reply());
    this.#socket.write(`${commands.join('\r\n')}\r\n`);
    const codes = await Promise.all(replies);
    const data = codes.pop();
    const refused = codes.find((code) => code !== 250);
    if (refused !== undefined) {
      // The server is already waiting for a message.
      if (data === 354) this.close();
      return refused;
    }
    if (data !== 354) return data ?? 0;
    const reply = this.#reply();
    this.#socket.cork();
    for (const part of source) this.#socket.write(part);
    this.#socket.uncork();
    return reply;
  }

  /** Sends bytes as they are. */
  write(bytes: string | Buffer): void {
    this.#socket.write(bytes);
  }

  /** Resolves once the bytes are sent. A write after the end fails at once, before the socket closes, so it ends the session. */
  writeAll(bytes: Buffer): Promise<void> {
    const written = Promise.withResolvers<void>();
    this.#socket.write(bytes, (error) => {
      if (error) this.close();
      written.resolve();
    });
    // The callback of a write in progress isn't called when the socket is destroyed.
    this.#socket.once('close', written.resolve);
    return written.promise.finally(() => this.#socket.off('close', written.resolve));
  }

  close(): void {
    this.#lost = true;
    this.#socket.destroy();
  }
}

/** A message with stuffed dots and its final dot (RFC 5321 section 4.5.2). @param text with CRLF line ends */
export function toWire(text: string): string {
  return `${text.replaceAll(/^\./gm, '..')}${text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`;
}
