import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogOutput, SyslogTarget } from './log-outputs.ts';

/** The facility mail (RFC 5424 section 6.2.1). */
const facility = 2;
/** A datagram that every IP stack can take; longer messages are cut off. */
const maxDatagramBytes = 8_192;
const maxWaitingDatagrams = 1_000;
/** How often the address of a server is looked up. */
const lookupIntervalMs = 60_000;
/** Max bytes waiting for a slow or unreachable server; further lines are lost. */
const maxWaitingBytes = 1024 * 1024;
const minReconnectMs = 1_000;
const maxReconnectMs = 30_000;
const closeTimeoutMs = 2_000;

type UdpTarget = Extract<SyslogTarget, { readonly protocol: 'udp' }>;
type StreamTarget = Exclude<SyslogTarget, UdpTarget>;

/** Where datagrams go, and the socket of its address family. */
interface DatagramServer {
  readonly socket: DatagramSocket;
  readonly address: string;
}

/** Opens a connection to a syslog server. It never delays or fails the service. */
export function openSyslog(target: SyslogTarget): LogOutput {
  return target.protocol === 'udp' ? new DatagramSyslog(target) : new StreamSyslog(target);
}

/** One datagram for each message (RFC 5426). */
class DatagramSyslog implements LogOutput {
  readonly #target: UdpTarget;
  readonly #timer: NodeJS.Timeout;
  #server: DatagramServer | undefined;
  #waiting: Buffer[] = [];
  #closed = false;

  constructor(target: UdpTarget) {
    this.#target = target;
    // Node would look up the name for each datagram.
    this.#timer = setInterval(() => void this.#findServer(), lookupIntervalMs);
    this.#timer.unref();
    void this.#findServer();
  }

  write(line: string): void {
    if (this.#closed) return;
    const message = formatSyslog(line).subarray(0, maxDatagramBytes);
    if (this.#server !== undefined) this.#send(this.#server, message);
    else if (this.#waiting.length < maxWaitingDatagrams) this.#waiting.push(message);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    const { socket } = this.#server ?? {};
    if (socket !== undefined) await new Promise<void>((resolve) => socket.close(resolve));
  }

  async #findServer(): Promise<void> {
    const found = await lookup(this.#target.host).catch(() => undefined);
    if (this.#closed || found === undefined || found.address === this.#server?.address) return;
    this.#server?.socket.close();
    const socket = createSocket(found.family === 6 ? 'udp6' : 'udp4');
    // An unreachable server is like a lost datagram.
    socket.on('error', () => undefined);
    socket.unref();
    this.#server = { socket, address: found.address };
    for (const message of this.#waiting.splice(0)) this.#send(this.#server, message);
  }

  #send({ socket, address }: DatagramServer, message: Buffer): void {
    socket.send(message, this.#target.port, address, () => undefined);
  }
}

/** Messages with their length, over TCP or a Unix socket (RFC 6587 section 3.4.1). */
class StreamSyslog implements LogOutput {
  readonly #target: StreamTarget;
  #socket: Socket | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lost = 0;
  #reconnectMs = minReconnectMs;
  #closing = false;

  constructor(target: StreamTarget) {
    this.#target = target;
    this.#connect();
  }

  write(line: string): void {
    const message = formatSyslog(line);
    const framed = Buffer.concat([Buffer.from(`${message.length} `), message]);
    const held = this.#socket === undefined ? this.#waitingBytes : this.#socket.writableLength;
    if (held + framed.length > maxWaitingBytes) {
      this.#lost += 1;
      return;
    }
    if (this.#lost > 0) this.#reportLoss();
    if (this.#socket !== undefined) this.#socket.write(framed);
    else {
      this.#waiting.push(framed);
      this.#waitingBytes += framed.length;
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    const socket = this.#socket;
    if (socket === undefined) return;
    const timeout = new AbortController();
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.end();
    await Promise.race([
      ended,
      delay(closeTimeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined),
    ]);
    timeout.abort();
    socket.destroy();
  }

  #connect(): void {
    const target = this.#target;
    const socket =
      target.protocol === 'unix' ? connect(target.path) : connect(target.port, target.host);
    socket.unref();
    socket.once('connect', () => {
      this.#socket = socket;
      this.#reconnectMs = minReconnectMs;
      for (const message of this.#waiting) socket.write(message);
      this.#waiting = [];
      this.#waitingBytes = 0;
    });
    socket.on('error', () => undefined);
    // A server that ends the connection reads nothing more.
    socket.on('end', () => socket.destroy());
    socket.resume();
    socket.once('close', () => {
      this.#socket = undefined;
      if (this.#closing) return;
      setTimeout(() => this.#connect(), this.#reconnectMs).unref();
      this.#reconnectMs = Math.min(this.#reconnectMs * 2, maxReconnectMs);
    });
  }

  #reportLoss(): void {
    const line = { level: 40, time: new Date().toISOString(), lost: this.#lost };
    this.#lost = 0;
    this.write(JSON.stringify({ ...line, msg: 'the syslog server was too slow for some lines' }));
  }
}

/** Severities (RFC 5424 section 6.2.1) by the levels of the log. */
const severities: Readonly<Record<number, number>> = { 60: 2, 50: 3, 40: 4, 30: 6, 20: 7, 10: 7 };

/** A message of RFC 5424: its text is the line, its MSGID the kind of line. */
function formatSyslog(line: string): Buffer {
  const { level, time, log } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const priority = facility * 8 + (severities[Number(level)] ?? 6);
  const host =
    hostname()
      .replaceAll(/[^!-~]/g, '')
      .slice(0, 255) || '-';
  const kind = typeof log === 'string' ? log.slice(0, 32) : '-';
  const text = line.trimEnd();
  return Buffer.from(`<${priority}>1 ${time} ${host} signalpost ${process.pid} ${kind} - ${text}`);
}
