import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { RawSockets } from './tls/raw-sockets.ts';

/**
 * Whether the node is leaving: from the request to stop, so that load balancers learn from `/readyz` before it stops listening,
 * until the server has closed. It still responds, and asks every client to use another connection for its next request
 * (RFC 9112 section 9.6), so that none is lost on a connection that closes.
 */
export class Draining {
  #isOn = false;

  constructor(http: FastifyInstance) {
    http.addHook('onRequest', (_request, reply, done) => {
      if (this.#isOn) reply.header('connection', 'close');
      done();
    });
    http.addHook('preClose', async () => this.begin());
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  begin(): void {
    this.#isOn = true;
  }
}

/** Interval for checking connections while the server closes. */
const sweepIntervalMs = 20;

/** A connection that is younger may be about to bring its request. */
const minAgeMs = 500;

/**
 * While the server closes, ends each connection after the response in progress, and those that have brought no request
 * (browsers open some in advance) or are still in their TLS handshake after half a second. Node itself closes only those that
 * are idle at the start, new ones included, and would keep the others open until they time out.
 */
export function closeFinishedConnections(http: FastifyInstance, rawSockets: RawSockets): void {
  const { server } = http;
  const open = new Map<Socket, number>();
  const handshakes = new Set<Socket>();
  const track = (socket: Socket): void => {
    open.set(socket, performance.now());
    socket.once('close', () => {
      open.delete(socket);
      handshakes.delete(socket);
    });
  };
  server.on('connection', (socket: Socket) => {
    track(socket);
    if (rawSockets.isActive) handshakes.add(socket);
  });
  server.on('secureConnection', (secured: TLSSocket) => {
    const raw = rawSockets.below(secured);
    if (raw !== undefined) {
      open.delete(raw);
      handshakes.delete(raw);
    }
    track(secured);
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  // For Node, a connection that has brought no request yet is idle, too. The server also calls this as it closes.
  server.closeIdleConnections = () => {
    const latest = performance.now() - minAgeMs;
    for (const [socket, openedAt] of open) if (socket.bytesRead === 0 && openedAt >= latest) return;
    closeIdle();
  };
  let sweep: NodeJS.Timeout | undefined;
  http.addHook('preClose', async () => {
    sweep = setInterval(() => {
      server.closeIdleConnections();
      const latest = performance.now() - minAgeMs;
      for (const [socket, openedAt] of open)
        if ((socket.bytesRead === 0 || handshakes.has(socket)) && openedAt < latest)
          socket.destroy();
    }, sweepIntervalMs);
  });
  // Registered before the hooks that wait for connections, and so run after them.
  http.addHook('onClose', async () => clearInterval(sweep));
}
