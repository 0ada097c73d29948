import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A free port of the loopback for a program that can't pick one, or for a service that restarts on the same port. It is
 * below the ephemeral range, so that the system doesn't assign it to something else first.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
