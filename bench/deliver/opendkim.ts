import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../test/support/wait-for.ts';

const run = promisify(execFile);

export interface Milter {
  /** As Postfix names it. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Gives files to the user `postfix`. */
export async function chownToPostfix(paths: readonly string[]): Promise<void> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((kind) => run('id', [kind, 'postfix'])));
  for (const path of paths) await chown(path, Number(uid?.stdout), Number(gid?.stdout));
}

/** Signs for shop.test as the service does. It runs as Postfix's user, so that Postfix may open its socket. */
export async function startOpenDkim(folder: string, keyFile: string): Promise<Milter> {
  const home = join(folder, 'opendkim');
  const socket = join(home, 'opendkim.sock');
  const key = join(home, 'dkim.pem');
  await mkdir(home, { mode: 0o700 });
  await copyFile(keyFile, key);
  await chmod(key, 0o600);
  const settings = {
    Mode: 's',
    Canonicalization: 'relaxed/relaxed',
    SignatureAlgorithm: 'rsa-sha256',
    Domain: 'shop.test',
    Selector: 'bench',
    KeyFile: key,
    // Everyone can write to the folder for temporary files.
    RequireSafeKeys: 'no',
    OversignHeaders: 'From',
    InternalHosts: '127.0.0.1',
    UserID: 'postfix',
    UMask: '007',
    Socket: `local:${socket}`,
    Syslog: 'no',
    Background: 'no',
  };
  const file = join(home, 'opendkim.conf');
  await writeFile(
    file,
    Object.entries(settings).map(([name, value]) => `${name} ${value}\n`),
  );
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
