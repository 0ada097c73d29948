import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import type { Weather } from './rough-weather.ts';
import type { SinkReport } from './sink.ts';
import { throttleWrites } from './throttle-writes.ts';

/**
 * The receiving side of the chaos run, a process of its own: takes mail over SMTP and tells its parent the Message-ID and
 * the recipients of each message whose final dot came and which it did not refuse. While it is rough, it misbehaves now
 * and then as servers do: temporary replies, hanging up at every step, also right after the final dot, and silence; and
 * in some weathers all the time.
 */
let rough = true;
let weather: Weather | undefined;

/** Longer than that, nobody says nothing after a dot. */
const maxSilenceMs = 60_000;

function chance(percent: number): boolean {
  return rough && Math.random() * 100 < percent;
}

function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/** The socket of a session: the library has it on its connection only. */
const sockets = new Map<string, Socket>();
/** Connections that were greeted with silence. */
const ignored = new Set<Socket>();

function hangUp(session: SMTPServerSession): void {
  sockets.get(`${session.remotePort}`)?.destroy();
}

function abrupt(): boolean {
  return chance(weather === 'abrupt' ? 50 : 1);
}

function busy(): boolean {
  return weather === 'busy' || chance(1);
}

/** What is said to a message that was taken. */
function acceptanceReply(): string {
  const wordy = weather === 'wordy' || chance(0.5);
  return wordy ? `taken ${'and so on '.repeat(10_000)}` : 'taken';
}

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
    if (abrupt()) return hangUp(session);
    if (busy()) return callback(refusal(421, 'Closing for a moment'));
    callback();
  },
  async onRcptTo(_address, session, callback) {
    if (weather === 'abrupt' && abrupt()) return hangUp(session);
    // Slow answers keep messages between claim and dot, where a sleeping node must lose them.
    if (chance(15)) await delay(Math.random() * 4_000);
    const refused = chance(2);
    // RFC 5321 section 4.2.1: all lines of a reply have the same code.
    const line = refused ? '451-4.7.1 Try again\r\n' : '250-2.1.5 and so on, and so on\r\n';
    if (weather === 'wordy' && chance(20))
      sockets.get(`${session.remotePort}`)?.write(line.repeat(10_000));
    callback(refused ? refusal(451, 'Try again later') : null);
  },
  async onData(stream, session, callback) {
    let head = '';
    if (abrupt()) return hangUp(session);
    try {
      for await (const chunk of stream)
        if (head.length < 4_000) head += (chunk as Buffer).toString('latin1');
    } catch {
      return;
    }
    if (busy()) return callback(refusal(421, 'Closing after all'));
    if (chance(2)) return callback(refusal(451, 'Local problem'));
    const received = /^Message-ID: <([0-9a-f-]{36})@/im.exec(head)?.[1];
    const to = session.envelope.rcptTo.map(({ address }) => address);
    process.send?.({ ...(received !== undefined && { received }), to } satisfies SinkReport);
    if (abrupt()) return hangUp(session);
    if (chance(0.3)) {
      setTimeout(() => hangUp(session), maxSilenceMs).unref();
      return;
    }
    callback(null, acceptanceReply());
  },
});
server.on('error', () => undefined);
const [greet] = server.server.listeners('connection') as ((socket: Socket) => void)[];
server.server.removeAllListeners('connection');
server.server.on('connection', (socket: Socket) => {
  socket.on('error', () => undefined);
  if (weather === 'gone') return void socket.resetAndDestroy();
  if (weather === 'silent') {
    ignored.add(socket);
    socket.once('close', () => ignored.delete(socket));
    return;
  }
  if (weather === 'slow') throttleWrites(socket, () => weather === 'slow');
  const port = `${socket.remotePort}`;
  sockets.set(port, socket);
  socket.once('close', () => sockets.delete(port));
  greet?.call(server.server, socket);
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.server.address() as AddressInfo).port } satisfies SinkReport);
});

process.on('message', (message: 'behave' | { readonly weather: Weather | null }) => {
  if (message === 'behave') rough = false;
  weather = message === 'behave' ? undefined : (message.weather ?? undefined);
  if (weather !== 'silent') for (const socket of ignored) socket.destroy();
});
process.on('disconnect', () => process.exit(0));
