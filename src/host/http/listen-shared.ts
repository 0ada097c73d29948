import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Http } from './create-http.ts';

/** Connections accepted per turn of the event loop: libuv accepts one per listening socket. */
const listenerCount = 8;

/**
 * Connections that can wait until they are accepted, as many as Linux lets wait by default (`net.core.somaxconn`). What comes on
 * top is dropped, and its client tries again after a second or more.
 */
export const listenBacklog = 4_096;

/**
 * Listens on a port together with other processes of this machine; the kernel distributes the connections
 * (SO_REUSEPORT, socket(7)). A busy process accepts a burst of connections in a few turns of its event loop instead
 * of one per turn.
 * @throws if the platform doesn't support this, or the port or address is not available
 */
export async function listenShared(http: Http, host: string, port: number): Promise<void> {
  const address = { host, port, backlog: listenBacklog, reusePort: true };
  const extraServers = Array.from({ length: listenerCount - 1 }, () =>
    createServer({ noDelay: true }, (socket) => http.server.emit('connection', socket)),
  );
  // The HTTP server itself waits only for the connections that it accepted.
  let closed: Promise<unknown> = Promise.resolve();
  http.addHook('preClose', async () => {
    closed = Promise.all(extraServers.map((extraServer) => once(extraServer.close(), 'close')));
  });
  http.addHook('onClose', async () => {
    await closed;
  });
  await http.listen(address);
  await Promise.all(
    extraServers.map(async (extraServer) => {
      extraServer.listen(address);
      await once(extraServer, 'listening');
    }),
  );
}

export const canListenShared = process.platform === 'linux';
