import type { Server, Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

type Endpoints = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** Finds the connection below a TLS connection, which Node doesn't tell: both have the same endpoints. */
export class RawSockets {
  readonly #open = new Map<string, Socket>();
  /** Whether the server speaks TLS. */
  readonly isActive: boolean;

  /** @param server without TLS, there is nothing to find */
  constructor(server: Server) {
    this.isActive = server instanceof TlsServer;
    if (!this.isActive) return;
    server.on('connection', (socket: Socket) => {
      const key = keyOf(socket);
      this.#open.set(key, socket);
      socket.once('close', () => {
        if (this.#open.get(key) === socket) this.#open.delete(key);
      });
    });
  }

  below(secured: Endpoints): Socket | undefined {
    return this.#open.get(keyOf(secured));
  }
}

function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Endpoints): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
