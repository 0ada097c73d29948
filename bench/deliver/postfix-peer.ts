import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { stopChild } from '../child-program.ts';
import type { Peer } from './nodemailer-peer.ts';

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

/** A Postfix instance of its own, fed by `smtp-source`. */
export async function startPostfixPeer(name: PostfixName, place: PostfixPlace): Promise<Peer> {
  const { connections, messageFile } = place;
  const signed = name === 'postfix+opendkim';
  const folder = join(place.folder, name);
  const config = join(folder, 'etc');
  const data = join(folder, 'data');
  await mkdir(config, { recursive: true });
  await mkdir(join(folder, 'spool'));
  await mkdir(data, { mode: 0o700 });
  await run('chown', ['postfix:', data]);
  await chmod(folder, 0o755);
  const milter = signed ? await startOpenDkim(folder, place.keyFile) : undefined;
  const port = await freePort();
  const { stdout } = await run('postconf', ['-d', '-h', 'daemon_directory']);
  await writeFile(join(config, 'main.cf'), mainSettings(folder, stdout.trim(), place, signed));
  await writeFile(join(config, 'master.cf'), masterSettings(port));
  const stop = async (): Promise<void> => {
    await run('postfix', ['-c', config, 'stop']).catch(() => undefined);
    if (milter !== undefined) await stopChild(milter);
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

async function greets(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const greeted = await once(socket, 'data').then(
    () => true,
    () => false,
  );
  socket.end('QUIT\r\n');
  return greeted;
}

/** Signs for shop.test as the service does. It runs as Postfix's user, so that Postfix may open its socket. */
async function startOpenDkim(folder: string, keyFile: string): Promise<ChildProcess> {
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
  await run('chown', ['postfix:', home, key, file]);
  const child = spawn('opendkim', ['-x', file, '-f'], { stdio: ['ignore', 'ignore', 'inherit'] });
  await waitFor('the socket of OpenDKIM', () => existsSync(socket));
  return child;
}

/** `main.cf` of a relay that is set up for speed. The queue's fsync keeps its default. */
function mainSettings(
  folder: string,
  daemonFolder: string,
  { connections, sinkPort }: PostfixPlace,
  signed: boolean,
): string {
  return `
compatibility_level = 3.6
queue_directory = ${folder}/spool
data_directory = ${folder}/data
daemon_directory = ${daemonFolder}
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${folder}/mail.log
maillog_file_prefixes = ${folder}
myhostname = postfix.bench.test
mydestination =
alias_maps =
local_recipient_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_recipient_restrictions =
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
smtpd_client_connection_rate_limit = 0
smtpd_tls_security_level = none
smtp_tls_security_level = none
smtp_dns_support_level = disabled
smtp_host_lookup = native
relayhost = [127.0.0.1]:${sinkPort}
default_destination_concurrency_limit = ${connections}
initial_destination_concurrency = ${connections}
smtp_connection_cache_destinations = 127.0.0.1
smtp_connection_reuse_count_limit = 0
in_flow_delay = 0s
qmgr_message_active_limit = 100000
qmgr_message_recipient_limit = 100000
${signed ? `smtpd_milters = unix:${folder}/opendkim/opendkim.sock\n# No message counts unsigned.\nmilter_default_action = tempfail\n` : ''}`;
}

/** `master.cf` of Debian without chroot and unused services. */
function masterSettings(port: number): string {
  return `
127.0.0.1:${port} inet n - n - - smtpd
pickup    unix n - n 60    1 pickup
cleanup   unix n - n -     0 cleanup
qmgr      unix n - n 300   1 qmgr
tlsmgr    unix - - n 1000? 1 tlsmgr
rewrite   unix - - n -     - trivial-rewrite
bounce    unix - - n -     0 bounce
defer     unix - - n -     0 bounce
trace     unix - - n -     0 bounce
verify    unix - - n -     1 verify
flush     unix n - n 1000? 0 flush
proxymap  unix - - n -     - proxymap
smtp      unix - - n -     - smtp
relay     unix - - n -     - smtp
error     unix - - n -     - error
retry     unix - - n -     - error
anvil     unix - - n -     1 anvil
scache    unix - - n -     1 scache
postlog   unix-dgram n - n - 1 postlogd
`;
}
