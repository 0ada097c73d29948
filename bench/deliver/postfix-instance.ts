import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';

const run = promisify(execFile);

/** A separate Postfix instance. */
export interface PostfixInstance {
  readonly port: number;
  /** With its queue. */
  readonly spool: string;
  /** Of its first process. */
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts a Postfix instance without chroot and unused services, on a free port.
 * @param folder readable by every user; gets all its files
 * @param settings additional lines of main.cf
 */
export async function startPostfixInstance(
  folder: string,
  settings: string,
): Promise<PostfixInstance> {
  const config = join(folder, 'etc');
  const data = join(folder, 'data');
  const spool = join(folder, 'spool');
  await mkdir(config, { recursive: true });
  await chmod(folder, 0o755);
  await mkdir(spool);
  await mkdir(data, { mode: 0o700 });
  await run('chown', ['postfix:', data]);
  const port = await freePort();
  const { stdout } = await run('postconf', ['-d', '-h', 'daemon_directory']);
  await writeFile(join(config, 'main.cf'), commonSettings(folder, stdout.trim()) + settings);
  await writeFile(join(config, 'master.cf'), masterSettings(port));
  const stop = async (): Promise<void> => {
    await run('postfix', ['-c', config, 'stop']).catch(() => undefined);
  };
  try {
    await run('postfix', ['-c', config, 'start']);
    await waitFor('the greeting of Postfix', () => greets(port));
    const pid = Number.parseInt(await readFile(join(spool, 'pid/master.pid'), 'latin1'), 10);
    return { port, spool, pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
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

/** What every instance has. The queue's fsync keeps its default. */
function commonSettings(folder: string, daemonFolder: string): string {
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
smtp_tls_security_level = none
smtp_dns_support_level = disabled
smtp_host_lookup = native
in_flow_delay = 0s
`;
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
