import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Interval for checking connections while the server closes. */
const sweepIntervalMs = 20;

/**
 * While the server closes, ends each connection after the response in progress, and connections without any request
 * (browsers open some in advance) at once. Node itself closes only those that are idle at the start and would keep
 * the others open until they time out.
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
