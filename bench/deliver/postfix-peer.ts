import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { MissingPeer, Peer } from './peer.ts';
import { mainSettings, masterSettings } from './postfix-settings.ts';
import { type Milter, startOpenDkim } from './start-opendkim.ts';
import { chownTo, isInstalled } from './system-user.ts';

const run = promisify(execFile);

export interface PostfixPeerOptions {
  /** Readable by every user; holds all that belongs to the instance. */
  readonly folder: string;
  readonly sinkPort: number;
  readonly connections: number;
  /** A message as it goes over the wire, unsigned. */
  readonly messageFile: string;
  /** OpenDKIM signs with this key. */
  readonly keyFile: string;
}

/** What Postfix lacks here; undefined where it can be measured. */
export async function findMissingPostfix(name: string): Promise<MissingPeer | undefined> {
  const programs = ['postfix', 'smtp-source', ...(name.includes('opendkim') ? ['opendkim'] : [])];
  for (const program of programs)
    if (!(await isInstalled(program))) return { name, missing: `${program} is not installed` };
  if (process.getuid?.() !== 0)
    return { name, missing: 'only root can start an instance of Postfix' };
  return undefined;
}

/**
 * An instance of Postfix of its own, with its own configuration and queue, fed by `smtp-source` over as many sessions as it
 * has connections to the sink; with OpenDKIM where `sign` says so.
 */
export async function startPostfixPeer(options: PostfixPeerOptions, sign: boolean): Promise<Peer> {
  const { connections, messageFile, sinkPort } = options;
  const folder = join(options.folder, sign ? 'signing' : 'plain');
  const config = join(folder, 'etc');
  await mkdir(config, { recursive: true });
  await mkdir(join(folder, 'spool'));
  await mkdir(join(folder, 'data'), { mode: 0o700 });
  await chownTo('postfix', [join(folder, 'data')]);
  await chmod(folder, 0o755);
  let milter: Milter | undefined;
  if (sign) milter = await startOpenDkim(folder, options.keyFile);
  const port = await freePort();
  const place = { folder, port, sinkPort, connections, milter };
  const { stdout } = await run('postconf', ['-d', '-h', 'daemon_directory']);
  await writeFile(join(config, 'main.cf'), mainSettings(place, stdout.trim()));
  await writeFile(join(config, 'master.cf'), masterSettings(place));
  const stop = async (): Promise<void> => {
    await run('postfix', ['-c', config, 'stop']).catch(() => undefined);
    await milter?.stop();
  };
  try {
    await run('postfix', ['-c', config, 'start']);
    await waitForGreeting(port);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name: sign ? 'postfix+opendkim' : 'postfix',
    async send(count) {
      const feeder = spawn(
        'smtp-source',
        [
          ...['-s', String(connections), '-m', String(count), '-d', '-N', '-F', messageFile],
          ...['-f', 'orders@shop.test', '-t', 'reader@example.test', `127.0.0.1:${port}`],
        ],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      );
      const [code] = await once(feeder, 'exit');
      if (code !== 0) throw new Error(`smtp-source ended with ${code}`);
    },
    stop,
  };
}

async function waitForGreeting(port: number): Promise<void> {
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    const greeted = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => undefined);
      socket.once('data', () => {
        resolve(true);
        socket.end('QUIT\r\n');
      });
      socket.once('error', () => resolve(false));
    });
    if (greeted) return;
    await delay(50);
  }
  throw new Error('Postfix does not greet');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
