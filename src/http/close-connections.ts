import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How often connections are looked at while the server closes. */
const sweepIntervalMs = 20;

/**
 * While the server closes, a connection ends with the answer that was under way on it, and one that never asked for
 * anything (browsers open some in advance) ends at once. Node by itself closes those that idle at the beginning and
 * would let the others live on until their time is over.
 */
export function closeFinishedConnections(http: FastifyInstance): void {
  const open = new Set<Socket>();
  http.server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  http.addHook('preClose', async () => {
    const sweep = setInterval(() => {
      http.server.closeIdleConnections();
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    }, sweepIntervalMs);
    http.server.once('close', () => clearInterval(sweep));
  });
}
