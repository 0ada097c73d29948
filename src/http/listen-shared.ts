import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Http } from './create-http.ts';

/** So many connections are accepted in one turn of the event loop: libuv takes one of each socket that listens. */
const listenerCount = 8;

/**
 * Listens on a port together with other processes of this machine; the kernel shares the connections out (SO_REUSEPORT,
 * socket(7)). A process that is busy accepts a burst of connections in a few turns of its event loop, not one in each.
 * @throws where the platform has no such sharing, or the port or the address cannot be had
 */
export async function listenShared(http: Http, host: string, port: number): Promise<void> {
  const address = { host, port, reusePort: true };
  const extraServers = Array.from({ length: listenerCount - 1 }, () =>
    createServer({ noDelay: true }, (socket) => http.server.emit('connection', socket)),
  );
  http.addHook('preClose', async () => {
    for (const extraServer of extraServers) extraServer.close();
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
