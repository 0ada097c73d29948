import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import type { Peer } from './nodemailer-peer.ts';
import { chownToPostfix, type Milter, startOpenDkim } from './opendkim.ts';
import { mainSettings, masterSettings } from './postfix-settings.ts';

const run = promisify(execFile);

type PostfixName = 'postfix' | 'postfix+opendkim';

export interface PostfixPeerOptions {
  /** Readable by every user; holds all files of the instance. */
  readonly folder: string;
  readonly sinkPort: number;
  readonly connections: number;
  /** The unsigned message. */
  readonly messageFile: string;
  readonly keyFile: string;
}

/** @returns why the peer can't run here; undefined if it can */
export async function findMissingPostfix(name: PostfixName): Promise<string | undefined> {
  for (const program of ['postfix', 'smtp-source', ...(name === 'postfix' ? [] : ['opendkim'])])
    try {
      await run('sh', ['-c', 'command -v "$1"', 'sh', program]);
    } catch {
      return `${program} is not installed`;
    }
  return process.getuid?.() === 0 ? undefined : 'only root can start Postfix';
}

/** A Postfix instance of its own, fed by `smtp-source`. */
export async function startPostfixPeer(
  name: PostfixName,
  options: PostfixPeerOptions,
): Promise<Peer> {
  const { connections, messageFile, sinkPort } = options;
  const folder = join(options.folder, name);
  const config = join(folder, 'etc');
  await mkdir(config, { recursive: true });
  await mkdir(join(folder, 'spool'));
  await mkdir(join(folder, 'data'), { mode: 0o700 });
  await chownToPostfix([join(folder, 'data')]);
  await chmod(folder, 0o755);
  let milter: Milter | undefined;
  if (name === 'postfix+opendkim') milter = await startOpenDkim(folder, options.keyFile);
  const port = await freePort();
  const { stdout } = await run('postconf', ['-d', '-h', 'daemon_directory']);
  const place = { folder, port, sinkPort, connections, milter, daemonFolder: stdout.trim() };
  await writeFile(join(config, 'main.cf'), mainSettings(place));
  await writeFile(join(config, 'master.cf'), masterSettings(place));
  const stop = async (): Promise<void> => {
    await run('postfix', ['-c', config, 'stop']).catch(() => undefined);
    await milter?.stop();
  };
  try {
    await run('postfix', ['-c', config, 'start']);
    await waitFor('the greeting of Postfix', () => greets(port));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name,
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
      if (code !== 0) throw new Error(`smtp-source exited with ${code}`);
    },
    stop,
  };
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      resolve(true);
      socket.end('QUIT\r\n');
    });
    socket.once('error', () => resolve(false));
  });
}
