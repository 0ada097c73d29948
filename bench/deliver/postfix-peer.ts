import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import type { Peer } from './nodemailer-peer.ts';
import { type Milter, mainSettings, masterSettings } from './postfix-settings.ts';

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
  const place = { folder, sinkPort, connections, milter, daemonFolder: stdout.trim() };
  await writeFile(join(config, 'main.cf'), mainSettings(place));
  await writeFile(join(config, 'master.cf'), masterSettings(port));
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

/** Gives files to the user `postfix`. */
async function chownToPostfix(paths: readonly string[]): Promise<void> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((kind) => run('id', [kind, 'postfix'])));
  for (const path of paths) await chown(path, Number(uid?.stdout), Number(gid?.stdout));
}

/** Signs for shop.test as the service does. It runs as Postfix's user, so that Postfix may open its socket. */
async function startOpenDkim(folder: string, keyFile: string): Promise<Milter> {
  const home = join(folder, 'opendkim');
  const socket = join(home, 'opendkim.sock');
  const key = join(home, 'dkim.pem');
  await mkdir(home, { mode: 0o700 });
  await copyFile(keyFile, key);
  await chmod(key, 0o600);
  // Everyone can write to the folder for temporary files, so keys can't be safe.
  const settings = `Mode s
Canonicalization relaxed/relaxed
SignatureAlgorithm rsa-sha256
Domain shop.test
Selector bench
KeyFile ${key}
RequireSafeKeys no
OversignHeaders From
InternalHosts 127.0.0.1
UserID postfix
UMask 007
Socket local:${socket}
Syslog no
Background no
`;
  const file = join(home, 'opendkim.conf');
  await writeFile(file, settings);
  await chownToPostfix([home, key, file]);
  const child = spawn('opendkim', ['-x', file, '-f'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exists = () =>
    stat(socket).then(
      () => true,
      () => false,
    );
  await waitFor('the socket of OpenDKIM', exists);
  return {
    address: `unix:${socket}`,
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}
