import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Interval for checking connections while the server closes. */
const sweepIntervalMs = 20;

/** A connection that is younger may be about to bring its request. */
const minAgeMs = 500;

/**
 * While the server closes, ends each connection after the response in progress, and those that have brought no request
 * (browsers open some in advance) after half a second. Node itself closes only those that are idle at the start and would keep
 * the others open until they time out.
 */
export function closeFinishedConnections(http: FastifyInstance): void {
  const open = new Map<Socket, number>();
  http.server.on('connection', (socket) => {
    open.set(socket, performance.now());
    socket.once('close', () => open.delete(socket));
  });
  http.addHook('preClose', async () => {
    const sweep = setInterval(() => {
      http.server.closeIdleConnections();
      const latest = performance.now() - minAgeMs;
      for (const [socket, openedAt] of open)
        if (socket.bytesRead === 0 && openedAt < latest) socket.destroy();
    }, sweepIntervalMs);
    http.server.once('close', () => clearInterval(sweep));
  });
}
