import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { waitFor } from './wait-for.ts';

/** A busy machine can need this for the largest message. */
const largeTimeoutMs = 180_000;

export interface SmtpClientOptions {
  readonly port: number;
  /** The address to connect from. */
  readonly from?: string;
  /** TLS from the start. */
  readonly tls?: boolean;
  /** Doesn't close its side when the server closes the other. */
  readonly allowHalfOpen?: boolean;
}

/** An SMTP client that sends exactly what a test gives it. */
export class SmtpClient {
  socket: Socket;
  #text = '';
  closed = false;

  constructor({ port, from, tls = false, allowHalfOpen = false }: SmtpClientOptions) {
    const local = from !== undefined && { localAddress: from };
    const target = { host: '127.0.0.1', port, allowHalfOpen, ...local };
    this.socket = tls
      ? connectTls({ socket: connect(target), rejectUnauthorized: false })
      : connect(target);
    this.#listen();
    after(() => this.socket.destroy());
  }

  /** Connects and waits for the greeting. */
  static async open(options: SmtpClientOptions): Promise<SmtpClient> {
    const client = new SmtpClient(options);
    await client.reply(/^220 /);
    return client;
  }

  #listen(): void {
    this.socket.on('data', (chunk) => {
      this.#text += chunk;
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.closed = true;
    });
  }

  /** Replies that nothing has waited for. */
  get pending(): string {
    return this.#text;
  }

  /** Waits for a reply and discards everything up to it. */
  async reply(pattern: RegExp, timeoutMs?: number): Promise<string> {
    const find = () => {
      const lines = this.#text.split('\r\n');
      const at = lines.findIndex((line) => pattern.test(line));
      if (at < 0) return false;
      this.#text = lines.slice(at + 1).join('\r\n');
      return lines[at];
    };
    return await waitFor(`reply ${pattern}`, find, timeoutMs);
  }

  /** Sends a line and returns the last line of the reply. */
  async send(line: string, pattern = /^\d{3} /, timeoutMs?: number): Promise<string> {
    this.socket.write(`${line}\r\n`);
    return await this.reply(pattern, timeoutMs);
  }

  /** Sends EHLO and returns the extensions. */
  async greet(): Promise<readonly string[]> {
    this.socket.write('EHLO client.test\r\n');
    const lines = await waitFor('the extensions', () => {
      const found = this.#text.split('\r\n').filter((line) => line !== '');
      return found.some((line) => line.startsWith('250 ')) && found;
    });
    this.#text = '';
    return lines.slice(1).map((line) => line.slice(4));
  }

  /** Upgrades the connection with STARTTLS. */
  async startTls(): Promise<void> {
    await this.send('STARTTLS', /^220 /);
    this.socket.removeAllListeners('data');
    const secure = connectTls({ socket: this.socket, rejectUnauthorized: false });
    await once(secure, 'secureConnect');
    this.socket = secure;
    this.#text = '';
    this.#listen();
  }

  /** Logs in with AUTH PLAIN (RFC 4616). */
  login(user: string, password: string): Promise<string> {
    return this.send(`AUTH PLAIN ${Buffer.from(`\0${user}\0${password}`).toString('base64')}`);
  }

  /**
   * Sends a message.
   * @param source with CRLF line ends and without the final dot
   * @returns the first reply that isn't positive, or the last one
   */
  async submit(
    to: readonly string[],
    source: string,
    mail = 'MAIL FROM:<app@shop.test>',
  ): Promise<string> {
    for (const line of [mail, ...to.map((address) => `RCPT TO:<${address}>`)]) {
      const reply = await this.send(line);
      if (!reply.startsWith('250')) return reply;
    }
    const data = await this.send('DATA');
    if (!data.startsWith('354')) return data;
    const stuffed = source.replaceAll(/^\./gm, '..');
    const end = stuffed.endsWith('\r\n') ? '' : '\r\n';
    return this.send(`${stuffed}${end}.`, undefined, largeTimeoutMs);
  }

  async end(): Promise<void> {
    this.socket.destroy();
    await waitFor('the end', () => this.closed);
  }
}
