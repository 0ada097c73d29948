import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import type { TestCertificate } from '../../test/support/test-certificates.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const run = promisify(execFile);

export interface PostfixOptions {
  /** A loopback address. */
  readonly address: string;
  readonly port: number;
  readonly domain: string;
  readonly certificate: TestCertificate;
  /** Additional lines of main.cf. */
  readonly settings?: readonly string[];
  /** Additional lines of master.cf. */
  readonly services?: readonly string[];
}

/** Debian's Postfix, which stores mail for one domain in a folder. */
export class Postfix {
  readonly #mails: string;

  constructor(mails: string) {
    this.#mails = mails;
  }

  /** The received mail, including the headers that Postfix added. */
  async mails(): Promise<string[]> {
    const folder = join(this.#mails, 'new');
    const names = await readdir(folder).catch(() => []);
    return Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')));
  }
}

function idOf(kind: '-u' | '-g', user: string): number {
  return Number(execFileSync('id', [kind, user], { encoding: 'utf8' }));
}

/** Starts a separate Postfix instance, which stops at the end of the file. Requires root. */
export async function startPostfix(options: PostfixOptions): Promise<Postfix> {
  const folder = mkdtempSync('/tmp/signalpost-postfix-');
  chmodSync(folder, 0o755);
  const [configuration, queue, data, mails] = ['etc', 'queue', 'data', 'mail'].map((name) => {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  }) as [string, string, string, string];
  const [uid, gid] = [idOf('-u', 'postfix'), idOf('-g', 'postfix')];
  for (const path of [data, mails]) chownSync(path, uid, gid);
  writeFileSync(join(configuration, 'tls.key'), options.certificate.key, { mode: 0o600 });
  writeFileSync(join(configuration, 'tls.pem'), options.certificate.cert);
  writeFileSync(
    join(configuration, 'main.cf'),
    [
      'compatibility_level = 3.6',
      `queue_directory = ${queue}`,
      `data_directory = ${data}`,
      'mail_owner = postfix',
      'setgid_group = postdrop',
      'syslog_name = signalpost-test',
      `maillog_file_prefixes = ${folder}`,
      `maillog_file = ${folder}/mail.log`,
      `myhostname = mx.${options.domain}`,
      'mydestination =',
      'mynetworks =',
      'inet_interfaces = loopback-only',
      'inet_protocols = ipv4',
      'smtputf8_enable = yes',
      `virtual_mailbox_domains = ${options.domain}`,
      `virtual_mailbox_base = ${folder}`,
      'virtual_mailbox_maps = static:mail/',
      `virtual_minimum_uid = 1`,
      `virtual_uid_maps = static:${uid}`,
      `virtual_gid_maps = static:${gid}`,
      'smtpd_relay_restrictions = reject_unauth_destination',
      'smtpd_tls_security_level = may',
      `smtpd_tls_key_file = ${configuration}/tls.key`,
      `smtpd_tls_cert_file = ${configuration}/tls.pem`,
      'smtpd_tls_received_header = yes',
      'disable_dns_lookups = yes',
      'smtpd_peername_lookup = no',
      'smtpd_client_event_limit_exceptions =',
      ...(options.settings ?? []),
      '',
    ].join('\n'),
  );
  writeFileSync(join(configuration, 'master.cf'), masterOf(options));
  const stop = async (): Promise<void> => {
    await run('postfix', ['-c', configuration, 'stop']).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  };
  after(stop);
  await run('postfix', ['-c', configuration, 'start']);
  await waitFor('Postfix to listen', () => answers(options.address, options.port));
  return new Postfix(mails);
}

function masterOf({ address, port, services = [] }: PostfixOptions): string {
  return [
    'postlog unix-dgram n - n - 1 postlogd',
    `${address}:${port} inet n - n - - smtpd`,
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'discard unix - - n - - discard',
    'virtual unix - n n - - virtual',
    'anvil unix - - n - 1 anvil',
    'proxymap unix - - n - - proxymap',
    'scache unix - - n - 1 scache',
    ...services,
    '',
  ].join('\n');
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
