import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

/**
 * The receiving side of the chaos run, a process of its own: takes mail over SMTP and tells its parent the Message-ID of
 * each message whose final dot came and which it did not refuse. While it is rough, it misbehaves now and then as
 * servers do: temporary replies, hanging up at every step, also right after the final dot, and silence.
 */
let rough = true;
const silent = new Set<() => void>();

function chance(percent: number): boolean {
  return rough && Math.random() * 100 < percent;
}

function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/** The socket of a session: the library has it on its connection only. */
const sockets = new Map<string, Socket>();

function hangUp(session: SMTPServerSession): void {
  sockets.get(`${session.remotePort}`)?.destroy();
}

const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  maxClients: 1_000,
  closeTimeout: 100,
  onMailFrom(_address, session, callback) {
    if (chance(1)) return hangUp(session);
    if (chance(1)) return callback(refusal(421, 'Closing for a moment'));
    callback();
  },
  async onRcptTo(_address, _session, callback) {
    // Slow answers keep messages between claim and dot, where a sleeping node must lose them.
    if (chance(15)) await delay(Math.random() * 4_000);
    callback(chance(2) ? refusal(451, 'Try again later') : null);
  },
  async onData(stream, session, callback) {
    let head = '';
    let size = 0;
    if (chance(1)) {
      hangUp(session);
      return;
    }
    try {
      for await (const chunk of stream) {
        size += (chunk as Buffer).length;
        if (head.length < 4_000) head += (chunk as Buffer).toString('latin1');
      }
    } catch {
      return;
    }
    if (chance(2)) return callback(refusal(451, 'Local problem'));
    const id = /^Message-ID: <([0-9a-f-]{36})@/im.exec(head)?.[1];
    process.send?.({ received: id, size });
    if (chance(1)) return hangUp(session);
    if (chance(0.3)) {
      silent.add(() => hangUp(session));
      return;
    }
    callback();
  },
});
server.on('error', () => undefined);
server.server.on('connection', (socket: Socket) => {
  sockets.set(`${socket.remotePort}`, socket);
  socket.once('close', () => sockets.delete(`${socket.remotePort}`));
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.server.address() as AddressInfo).port });
});

process.on('message', (message) => {
  if (message !== 'behave') return;
  rough = false;
  for (const end of silent) end();
  silent.clear();
});
process.on('disconnect', () => process.exit(0));
