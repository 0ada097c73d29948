import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { forkFile } from '../child-program.ts';

/**
 * What the receiver does for some seconds: `silent` never greets, `busy` replies 421 to everything, `slow` sends a byte a
 * second, `gone` resets connections, `wordy` replies with 100 kB or 10,000 lines, `abrupt` closes half of all connections in
 * the middle and after the final dot.
 */
export const weathers = ['silent', 'busy', 'slow', 'gone', 'wordy', 'abrupt'] as const;
export type Weather = (typeof weathers)[number];

/** A message that the receiver accepted for one recipient: Message-ID and address. */
type Copy = `${string} ${string}`;

interface Arrival {
  readonly at: number;
  /** Names of its attachments, as of `fileNameOf`; `damaged` instead of one whose content changed. */
  readonly files: readonly string[];
}

interface RoughReport extends Arrival {
  readonly messageId: string;
  readonly to: readonly string[];
}

export type RoughSink = Awaited<ReturnType<typeof startRoughSink>>;

/** Starts the receiver in a separate process. */
export async function startRoughSink() {
  const child = forkFile(import.meta.filename);
  const [port] = (await once(child, 'message')) as [number];
  const received = new Map<Copy, Arrival[]>();
  child.on('message', ({ messageId, to, ...arrival }: RoughReport) => {
    for (const address of to) {
      const copy: Copy = `${messageId} ${address}`;
      received.set(copy, [...(received.get(copy) ?? []), arrival]);
    }
  });
  return {
    port,
    received: received as ReadonlyMap<Copy, readonly Arrival[]>,
    setWeather: (weather: Weather | undefined) => child.send({ weather }),
    /** No faults from now on. */
    behave: () => child.send({ behave: true }),
    stop: () => child.disconnect(),
  };
}

const maxSilenceMs = 60_000;

/** Reports each message that it got completely and didn't refuse. */
function runRoughSink(): void {
  let rough = true;
  let weather: Weather | undefined;
  const chance = (percent: number) => rough && Math.random() * 100 < percent;
  const isAbrupt = () => chance(weather === 'abrupt' ? 50 : 1);
  const isBusy = () => weather === 'busy' || chance(1);
  /** The library exposes a session's socket only on its connection. */
  const sockets = new Map<string, Socket>();
  const socketOf = ({ remotePort }: SMTPServerSession) => sockets.get(`${remotePort}`);
  const hangUp = (session: SMTPServerSession) => void socketOf(session)?.destroy();
  const ungreeted = new Set<Socket>();
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    maxClients: 1_000,
    closeTimeout: 100,
    onConnect(_session, callback) {
      callback(weather === 'busy' ? refusal(421, 'Too busy') : null);
    },
    onMailFrom(_address, session, callback) {
      if (isAbrupt()) return hangUp(session);
      callback(isBusy() ? refusal(421, 'Closing for a moment') : null);
    },
    async onRcptTo(_address, session, callback) {
      if (weather === 'abrupt' && isAbrupt()) return hangUp(session);
      // Slow replies keep messages between claim and dot, where a sleeping node must lose them.
      if (chance(15)) await delay(Math.random() * 4_000);
      const refused = chance(2);
      // RFC 5321 section 4.2.1: all lines of a reply have the same code.
      const line = refused ? '451-4.7.1 Try again\r\n' : '250-2.1.5 and so on, and so on\r\n';
      if (weather === 'wordy' && chance(20)) socketOf(session)?.write(line.repeat(10_000));
      callback(refused ? refusal(451, 'Try again later') : null);
    },
    async onData(stream, session, callback) {
      if (isAbrupt()) return hangUp(session);
      const source = await text(stream).catch(() => undefined);
      if (source === undefined) return;
      if (isBusy()) return callback(refusal(421, 'Closing after all'));
      if (chance(2)) return callback(refusal(451, 'Local problem'));
      const messageId = /^Message-ID: <([0-9a-f-]{36})@/im.exec(source)?.[1] ?? '';
      const to = session.envelope.rcptTo.map(({ address }) => address);
      const files = readFiles(source);
      process.send?.({ messageId, to, files, at: Date.now() } satisfies RoughReport);
      if (isAbrupt()) return hangUp(session);
      if (chance(0.3)) return void setTimeout(() => hangUp(session), maxSilenceMs).unref();
      const isWordy = weather === 'wordy' || chance(0.5);
      callback(null, isWordy ? `taken ${'and so on '.repeat(10_000)}` : 'taken');
    },
  });
  server.on('error', () => undefined);
  const [greet] = server.server.listeners('connection') as ((socket: Socket) => void)[];
  server.server.removeAllListeners('connection');
  server.server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    if (weather === 'gone') return void socket.resetAndDestroy();
    if (weather === 'silent') {
      ungreeted.add(socket);
      socket.once('close', () => ungreeted.delete(socket));
      return;
    }
    if (weather === 'slow') throttleWrites(socket, () => weather === 'slow');
    const port = `${socket.remotePort}`;
    sockets.set(port, socket);
    socket.once('close', () => sockets.delete(port));
    greet?.call(server.server, socket);
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.((server.server.address() as AddressInfo).port);
  });
  process.on('message', (order: { readonly behave?: true; readonly weather?: Weather }) => {
    if (order.behave) rough = false;
    weather = order.weather;
    if (weather !== 'silent') for (const socket of ungreeted) socket.destroy();
  });
  process.on('disconnect', () => process.exit(0));
}

/** A name that shows whether the content arrived unchanged. */
export function fileNameOf(content: Buffer): string {
  return `${createHash('sha256').update(content).digest('hex').slice(0, 40)}.bin`;
}

function readFiles(source: string): string[] {
  const parts = source.matchAll(/filename="([0-9a-f]+\.bin)"\r\n\r\n([^-]+)\r\n--/g);
  return Array.from(parts, ([, name = '', content = '']) =>
    name === fileNameOf(Buffer.from(content, 'base64')) ? name : 'damaged',
  );
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

/** Sends a byte a second while `isSlow`, then the rest at once. */
function throttleWrites(socket: Socket, isSlow: () => boolean): void {
  const write = socket.write.bind(socket) as (chunk: Buffer) => boolean;
  let waiting = Buffer.alloc(0);
  const timer = setInterval(() => {
    const size = isSlow() ? 1 : waiting.length;
    if (waiting.length > 0 && !socket.destroyed) write(waiting.subarray(0, size));
    waiting = waiting.subarray(size);
  }, 1_000);
  socket.once('close', () => clearInterval(timer));
  socket.write = ((chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    waiting = Buffer.concat([waiting, Buffer.from(chunk as string)]);
    const done = rest.find((item) => typeof item === 'function') as (() => void) | undefined;
    if (done !== undefined) process.nextTick(done);
    return true;
  }) as Socket['write'];
}

if (import.meta.main) runRoughSink();
