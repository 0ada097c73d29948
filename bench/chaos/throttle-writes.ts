import type { Socket } from 'node:net';

/** Lets a socket say one byte a second for as long as `slow` says so, and then the rest at once. */
export function throttleWrites(socket: Socket, slow: () => boolean): void {
  const write = socket.write.bind(socket) as (chunk: Buffer) => boolean;
  let waiting = Buffer.alloc(0);
  const timer = setInterval(() => {
    const size = slow() ? 1 : waiting.length;
    if (waiting.length > 0 && !socket.destroyed) write(waiting.subarray(0, size));
    waiting = waiting.subarray(size);
  }, 1_000);
  socket.once('close', () => clearInterval(timer));
  socket.write = ((chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    waiting = Buffer.concat([waiting, Buffer.from(chunk as string)]);
    const done = rest.find((item) => typeof item === 'function') as (() => void) | undefined;
    if (done !== undefined) process.nextTick(done);
    return true;
  }) as Socket['write'];
}
