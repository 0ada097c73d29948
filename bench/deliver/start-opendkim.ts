import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chownTo } from './system-user.ts';

export interface Milter {
  /** As Postfix names it. */
  readonly address: string;
  stop(): Promise<void>;
}

/**
 * OpenDKIM that signs for shop.test as the service does (RSA, relaxed/relaxed), over a Unix socket as Debian sets it up.
 * Postfix's own user runs it, so that Postfix may open the socket.
 */
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
    // The folder for temporary files belongs to everybody.
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
  const text = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  await writeFile(file, text.join(''));
  await chownTo('postfix', [home, key, file]);
  const child = spawn('opendkim', ['-x', file, '-f'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await waitForFile(socket, child);
  return {
    address: `unix:${socket}`,
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function waitForFile(path: string, child: ChildProcess): Promise<void> {
  while ((await stat(path).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error(`opendkim ended with ${child.exitCode}`);
    await delay(20);
  }
}
