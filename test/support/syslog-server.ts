import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { after } from 'node:test';

/** A message of RFC 5424. */
interface SyslogMessage {
  readonly facility: number;
  readonly severity: number;
  readonly timestamp: string;
  readonly hostname: string;
  readonly appName: string;
  readonly procId: string;
  readonly msgId: string;
  readonly structuredData: string;
  readonly text: string;
}

// RFC 5424 section 6: each field of the header has its maximum length.
const syntax =
  /^<(\d{1,3})>1 (-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)) ([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32}) (-|(?:\[[^\]]*\])+)(?: (.*))?$/s;

/** @throws if it isn't a message of RFC 5424 */
function parseSyslog(message: string): SyslogMessage {
  const match = syntax.exec(message);
  if (match === null) throw new Error(`not RFC 5424: ${message}`);
  const [, priority, timestamp, hostname, appName, procId, msgId, structuredData, text = ''] =
    match as string[];
  return {
    facility: Math.floor(Number(priority) / 8),
    severity: Number(priority) % 8,
    timestamp: String(timestamp),
    hostname: String(hostname),
    appName: String(appName),
    procId: String(procId),
    msgId: String(msgId),
    structuredData: String(structuredData),
    text,
  };
}

/** A syslog server that keeps what it receives. */
export interface SyslogServer {
  /** Its address in LOG_SYSLOG. */
  readonly url: string;
  readonly messages: SyslogMessage[];
  /** Closes the server and its connections. */
  close(): Promise<void>;
}

/** A server whose connections can stop reading. */
interface StreamServer extends SyslogServer {
  pause(): void;
  resume(): void;
}

/** A server for datagrams (RFC 5426). */
export async function startDatagramServer(): Promise<SyslogServer> {
  const messages: SyslogMessage[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message) => messages.push(parseSyslog(message.toString())));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const close = (): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));
  after(() => close().catch(() => undefined));
  return { url: `udp://127.0.0.1:${socket.address().port}`, messages, close };
}

/**
 * A server for streams with octet counting (RFC 6587 section 3.4.1).
 * @param place a port of the loopback, or the path of a Unix socket
 */
export async function startStreamServer(place: number | string): Promise<StreamServer> {
  const messages: SyslogMessage[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (;;) {
        const [count, digits] = /^(\d{1,7}) /.exec(received.toString('latin1', 0, 8)) ?? [];
        if (count === undefined || received.length < count.length + Number(digits)) return;
        const end = count.length + Number(digits);
        messages.push(parseSyslog(received.toString('utf8', count.length, end)));
        received = received.subarray(end);
      }
    });
  });
  if (typeof place === 'string') server.listen(place);
  else server.listen(place, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const close = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  after(close);
  const url = typeof address === 'string' ? `unix:${address}` : `tcp://127.0.0.1:${address?.port}`;
  return {
    url,
    messages,
    close,
    pause() {
      for (const socket of sockets) socket.pause();
    },
    resume() {
      for (const socket of sockets) socket.resume();
    },
  };
}
