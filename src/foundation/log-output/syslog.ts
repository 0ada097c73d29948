import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, isIPv6, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogOutput, SyslogTarget } from './log-outputs.ts';

/** The facility mail (RFC 5424 section 6.2.1). */
const facility = 2;
/** A datagram that every IP stack can take; longer messages are cut off. */
const maxDatagramBytes = 8_192;
/** Bytes that wait for a server that is slow or away; lines beyond are lost. */
const maxWaitingBytes = 1024 * 1024;
const minReconnectMs = 1_000;
const maxReconnectMs = 30_000;
const closeTimeoutMs = 2_000;

/** Opens a connection to a syslog server. It never delays or fails the service. */
export function openSyslog(target: SyslogTarget): LogOutput {
  return target.protocol === 'udp' ? new DatagramSyslog(target) : new StreamSyslog(target);
}

/** One datagram for each message (RFC 5426). */
class DatagramSyslog implements LogOutput {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #socket: DatagramSocket;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#socket = createSocket(isIPv6(target.host) ? 'udp6' : 'udp4');
    // An unreachable server is like a lost datagram.
    this.#socket.on('error', () => undefined);
    this.#socket.unref();
  }

  write(line: string): void {
    const message = formatSyslog(line).subarray(0, maxDatagramBytes);
    this.#socket.send(message, this.#target.port, this.#target.host, () => undefined);
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }
}

/** Messages with their length, over TCP or a Unix socket (RFC 6587 section 3.4.1). */
class StreamSyslog implements LogOutput {
  readonly #target: Exclude<SyslogTarget, { readonly protocol: 'udp' }> | SyslogTarget;
  #socket: Socket | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lost = 0;
  #reconnectMs = minReconnectMs;
  #closing = false;

  constructor(target: SyslogTarget) {
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
