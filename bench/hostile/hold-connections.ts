import { connect, type Socket } from 'node:net';

/** Opens connections and keeps them until the server has closed each. @returns 0 */
export async function holdConnections(
  { count, port, from }: { readonly count: number; readonly port: number; readonly from: string },
  use: (socket: Socket) => void,
): Promise<number> {
  await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<void>((resolve) => {
          const socket = connect({ host: '127.0.0.1', port, localAddress: from });
          socket.on('error', () => undefined);
          socket.once('close', () => resolve());
          socket.once('connect', () => use(socket));
        }),
    ),
  );
  return 0;
}
