import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port of the loopback for a program that cannot take one by itself, or for a service that is to come back to it. It
 * lies below those that the system gives out, so that nothing else gets it before the program does.
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
