import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after } from 'node:test';

/** What a step of the dialogue does instead of the default reply; undefined means the default reply. */
type Misbehavior = (socket: Socket) => string | 'silence' | 'hang up' | undefined;

export interface RudeSteps {
  readonly greeting?: Misbehavior;
  readonly EHLO?: Misbehavior;
  readonly MAIL?: Misbehavior;
  readonly RCPT?: Misbehavior;
  readonly DATA?: Misbehavior;
  /** After the first bytes of the message text. */
  readonly text?: Misbehavior;
  /** After the final dot. */
  readonly dot?: Misbehavior;
  readonly RSET?: Misbehavior;
}

export interface RudeServer {
  readonly port: number;
  /** Messages whose final dot arrived. */
  dots: number;
  connections: number;
}

const defaultReplies: Readonly<Record<string, string>> = {
  greeting: '220 rude.test ESMTP',
  EHLO: '250-rude.test\r\n250 8BITMIME',
  MAIL: '250 2.1.0 Ok',
  RCPT: '250 2.1.5 Ok',
  DATA: '354 Go on',
  dot: '250 2.0.0 Taken',
  RSET: '250 2.0.0 Ok',
  QUIT: '221 2.0.0 Bye',
};

/** A hand-written SMTP server that misbehaves at given steps, which no library would do. */
export async function startRudeServer(steps: RudeSteps): Promise<RudeServer> {
  const state = { dots: 0, connections: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    state.connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    converse(socket, steps, () => {
      state.dots += 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return Object.assign(state, { port: (server.address() as AddressInfo).port });
}

function converse(socket: Socket, steps: RudeSteps, onDot: () => void): void {
  let received = '';
  let inText = false;
  const reply = (step: keyof RudeSteps | 'QUIT'): boolean => {
    const reply = step === 'QUIT' ? undefined : steps[step]?.(socket);
    if (reply === 'silence') return false;
    if (reply === 'hang up') {
      socket.destroy();
      return false;
    }
    const line = reply ?? defaultReplies[step];
    if (line !== undefined) socket.write(`${line}\r\n`);
    return line?.startsWith('3') ?? false;
  };
  reply('greeting');
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    for (;;) {
      if (inText) {
        if (received !== '') reply('text');
        const end = received.indexOf('\r\n.\r\n');
        if (end === -1) return;
        received = received.slice(end + 5);
        inText = false;
        onDot();
        reply('dot');
        continue;
      }
      const end = received.indexOf('\r\n');
      if (end === -1) return;
      const verb = received.slice(0, 4).toUpperCase();
      received = received.slice(end + 2);
      const accepted = reply(verb as keyof RudeSteps);
      if (verb === 'DATA') inText = accepted;
    }
  });
}
