import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../test/support/wait-for.ts';
import { stopChild } from '../child-program.ts';
import type { Peer } from './nodemailer-peer.ts';
import { startPostfixInstance } from './postfix-instance.ts';

const run = promisify(execFile);

type PostfixName = 'postfix' | 'postfix+opendkim';

interface PostfixPlace {
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

/** A separate Postfix instance, fed by `smtp-source`. */
export async function startPostfixPeer(name: PostfixName, place: PostfixPlace): Promise<Peer> {
  const { connections, messageFile } = place;
  const signed = name === 'postfix+opendkim';
  const folder = join(place.folder, name);
  await mkdir(folder);
  await chmod(folder, 0o755);
  const milter = signed ? await startOpenDkim(folder, place.keyFile) : undefined;
  const stopMilter = async () => void (milter && (await stopChild(milter.child)));
  const postfix = await startPostfixInstance(folder, relaySettings(place, milter?.socket)).catch(
    async (error: unknown) => {
      await stopMilter();
      throw error;
    },
  );
  const { port } = postfix;
  const stop = async (): Promise<void> => {
    await postfix.stop();
    await stopMilter();
  };
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

/** Signs for shop.test as the service does. It runs as Postfix's user, so that Postfix can open its socket. */
async function startOpenDkim(folder: string, keyFile: string) {
  const home = join(folder, 'opendkim');
  const socket = join(home, 'opendkim.sock');
  const key = join(home, 'dkim.pem');
  await mkdir(home, { mode: 0o700 });
  await copyFile(keyFile, key);
  await chmod(key, 0o600);
  // The temporary folder is world-writable, so OpenDKIM would refuse the keys.
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
  await run('chown', ['postfix:', home, key, file]);
  const child = spawn('opendkim', ['-x', file, '-f'], { stdio: ['ignore', 'ignore', 'inherit'] });
  await waitFor('the socket of OpenDKIM', () => existsSync(socket));
  return { child, socket };
}

/** A relay tuned for speed. */
function relaySettings(
  { connections, sinkPort }: PostfixPlace,
  milter: string | undefined,
): string {
  return `
smtpd_tls_security_level = none
relayhost = [127.0.0.1]:${sinkPort}
default_destination_concurrency_limit = ${connections}
initial_destination_concurrency = ${connections}
smtp_connection_cache_destinations = 127.0.0.1
smtp_connection_reuse_count_limit = 0
qmgr_message_active_limit = 100000
qmgr_message_recipient_limit = 100000
${milter === undefined ? '' : `smtpd_milters = unix:${milter}\n# No message counts unsigned.\nmilter_default_action = tempfail\n`}`;
}
