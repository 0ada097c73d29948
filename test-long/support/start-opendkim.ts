import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { waitFor } from '../../test/support/wait-for.ts';

/** Debian's OpenDKIM as a verifying milter on the loopback, with public keys from a file instead of DNS. */
export class OpenDkim {
  readonly #folder = mkdtempSync('/tmp/signalpost-opendkim-');
  readonly port: number;

  constructor(port: number) {
    this.port = port;
    chmodSync(this.#folder, 0o755);
  }

  /** @param keys `selector._domainkey.domain` and its TXT record */
  async start(keys: readonly (readonly [name: string, record: string])[]): Promise<void> {
    const file = join(this.#folder, 'keys');
    writeFileSync(file, `${keys.map(([name, record]) => `${name} ${record}`).join('\n')}\n`);
    const settings = [
      `Socket inet:${this.port}@127.0.0.1`,
      'Mode v',
      'Syslog no',
      `TestPublicKeys ${file}`,
      'AlwaysAddARHeader yes',
      'AuthservID receiver.test',
      'InternalHosts 192.0.2.255',
      'Background no',
      '',
    ].join('\n');
    writeFileSync(join(this.#folder, 'opendkim.conf'), settings);
    const child = spawn('opendkim', ['-f', '-x', join(this.#folder, 'opendkim.conf')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    after(async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(this.#folder, { recursive: true, force: true });
    });
    await waitFor('OpenDKIM to listen', () => listens(this.port));
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
