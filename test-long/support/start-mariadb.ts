import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { createConnection } from 'mysql2/promise';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import type { TestCertificate } from '../../test/support/test-certificates.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';

/** Debian's MariaDB with the database `shop` of its administrator `root`, which stops at the end of the file. */
export interface MariaDb {
  readonly port: number;
  /** Ends it like a crash. */
  kill(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Of the account root, for connections of the machine. */
export const mariaDbPassword = 'root-of-tests';

/** @param settings of the server, such as `sql_mode=` */
export async function startMariaDb(
  certificate: TestCertificate,
  settings: readonly string[] = [],
): Promise<MariaDb> {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const files = { key: join(folder, 'tls.key'), cert: join(folder, 'tls.pem') };
  mkdirSync(data);
  writeFileSync(files.key, certificate.key);
  writeFileSync(files.cert, certificate.cert);
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? ['--user=mysql'] : [];
  if (isRoot) {
    const [uid, gid] = ['-u', '-g'].map((kind) => {
      return Number(execFileSync('id', [kind, 'mysql'], { encoding: 'utf8' }));
    }) as [number, number];
    for (const path of [data, files.key]) chownSync(path, uid, gid);
  }
  execFileSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      ...user,
      `--datadir=${data}`,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
    ],
    { stdio: 'pipe' },
  );
  const first = join(folder, 'first.sql');
  writeFileSync(
    first,
    `alter user root@localhost identified by '${mariaDbPassword}';\ncreate database if not exists shop;\n`,
    { mode: 0o644 },
  );
  const port = await freePort();
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    server = spawn(
      '/usr/sbin/mariadbd',
      [
        '--no-defaults',
        ...user,
        `--datadir=${data}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        `--socket=${join(data, 'socket')}`,
        `--ssl-key=${files.key}`,
        `--ssl-cert=${files.cert}`,
        `--init-file=${first}`,
        '--innodb-flush-log-at-trx-commit=1',
        ...settings.map((setting) => `--${setting}`),
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    await waitFor('MariaDB', async () => {
      const connection = await createConnection(connectionOf(port)).catch(() => undefined);
      await connection?.end();
      return connection !== undefined;
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill(signal);
    await exited;
  };
  const stop = () => end('SIGTERM');
  after(stop);
  await start();
  return { port, kill: () => end('SIGKILL'), start, stop };
}

/** A connection of the application. */
export function connectionOf(port: number) {
  return {
    host: '127.0.0.1',
    port,
    user: 'root',
    password: mariaDbPassword,
    database: 'shop',
    timezone: 'Z',
    multipleStatements: true,
  } as const;
}
