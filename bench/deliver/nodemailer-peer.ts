import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Peer } from './peer.ts';

/** A stock Nodemailer pool in a process of its own. */
export async function startNodemailer(
  sinkPort: number,
  keyFile: string,
  connections: number,
): Promise<Peer> {
  const child = fork(
    join(import.meta.dirname, 'bench-nodemailer.ts'),
    [String(sinkPort), keyFile, String(connections)],
    { execArgv: ['--disable-warning=ExperimentalWarning'] },
  );
  await once(child, 'message');
  return {
    name: 'nodemailer',
    send: async (count) => {
      child.send(count);
    },
    async stop() {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}
