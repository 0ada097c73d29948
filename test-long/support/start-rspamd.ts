import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { waitFor } from '../../test/support/wait-for.ts';

/** The origin of a message as the receiving server sees it. */
export interface Arrival {
  readonly ip: string;
  readonly helo: string;
  readonly from: string;
  readonly rcpt: string;
}

/** Debian's rspamd as on a receiving server: checks SPF, DKIM and DMARC against a test DNS server. */
export class Rspamd {
  readonly #folder = mkdtempSync('/tmp/signalpost-rspamd-');
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
    chmodSync(this.#folder, 0o755);
  }

  /** Uses the distribution's configuration without modules that this machine can't run. @param resolver `127.0.0.1:port` */
  async start(resolver: string): Promise<void> {
    const [data, local] = ['data', 'local/override.d'].map((name) => {
      const path = join(this.#folder, name);
      mkdirSync(path, { recursive: true });
      return path;
    }) as [string, string];
    chmodSync(data, 0o777);
    // The public suffix list lacks `test`, so no organizational domain would be found below it (RFC 7489 section 3.2).
    const suffixes = join(this.#folder, 'suffixes.dat');
    writeFileSync(suffixes, 'test\n');
    for (const [file, text] of Object.entries(settingsOf(this.#port, resolver, suffixes)))
      writeFileSync(join(local, file), text);
    const variables = {
      LOCAL_CONFDIR: join(this.#folder, 'local'),
      DBDIR: data,
      RUNDIR: data,
      LOGDIR: data,
    };
    const child = spawn(
      'rspamd',
      [
        ...['-f', '-i', '-c', '/etc/rspamd/rspamd.conf'],
        ...Object.entries(variables).map(([name, value]) => `--var=${name}=${value}`),
      ],
      { stdio: 'ignore' },
    );
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    after(async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(this.#folder, { recursive: true, force: true });
    });
    await waitFor('rspamd to answer', async () => (await this.#ping()) === 200, 60_000);
  }

  /** The names of all symbols found in a message. */
  async check(source: string, { ip, helo, from, rcpt }: Arrival): Promise<Set<string>> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/checkv2`, {
      method: 'POST',
      body: Buffer.from(source, 'latin1'),
      headers: { IP: ip, Helo: helo, From: from, Rcpt: rcpt, 'MTA-Name': 'mx.receiver.test' },
    });
    const { symbols } = (await response.json()) as { symbols: Record<string, unknown> };
    return new Set(Object.keys(symbols));
  }

  async #ping(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/ping`).catch(() => undefined);
    return response?.status ?? 0;
  }
}

/** Modules that would query servers on the internet. */
const onlineModules = [
  'asn',
  'bimi',
  'elastic',
  'fuzzy_check',
  'mx_check',
  'neural',
  'phishing',
  'rbl',
  'surbl',
];

function settingsOf(port: number, resolver: string, suffixes: string): Record<string, string> {
  const off = onlineModules.map((name) => [`${name}.conf`, 'enabled = false;'] as const);
  return {
    ...Object.fromEntries(off),
    // Test mail comes from the loopback, which isn't checked by default.
    'options.inc': `dns { nameserver = ["${resolver}"]; } url_tld = "${suffixes}"; local_addrs = []; check_local = true; check_authed = true;`,
    'logging.inc': 'type = "console"; level = "error";',
    'worker-normal.inc': `bind_socket = "127.0.0.1:${port}"; count = 1;`,
    'worker-controller.inc': 'enabled = false;',
    'worker-proxy.inc': 'enabled = false;',
  };
}
