import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestPostgres } from './test-postgres.ts';

/**
 * Starts a temporary server from the binaries in `folder`, such as /usr/lib/postgresql/15/bin, to test on the oldest supported
 * PostgreSQL. PostgreSQL can't run as root, so root starts it as the user postgres.
 */
export async function startProgramPostgres(folder: string): Promise<TestPostgres> {
  const home = mkdtempSync(join(tmpdir(), 'signalpost-pg-'));
  const identity = readIdentity();
  const data = join(home, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (identity !== undefined) {
    chmodSync(home, 0o711);
    chownSync(data, identity.uid, identity.gid);
  }
  const initdb = spawnSync(
    join(folder, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale', 'C', '--no-sync'],
    { ...identity, cwd: data, encoding: 'utf8' },
  );
  if (initdb.status !== 0) throw new Error(`initdb: ${initdb.error?.message ?? initdb.stderr}`);
  const server = spawn(
    join(folder, 'postgres'),
    ['-D', data, '-k', data, '-h', '', '-c', 'max_connections=200', '-c', 'fsync=off'],
    { ...identity, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await waitUntilReady(server);
  const url = new URL('postgres://postgres@localhost:5432/postgres');
  url.searchParams.set('host', data);
  return {
    url: url.href,
    serviceUrl: url.href,
    async stop() {
      const exited = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGINT');
      await exited;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function readIdentity(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entry = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (entry === null)
    throw new Error('running as root requires a user named postgres to run PostgreSQL');
  return { uid: Number(entry[1]), gid: Number(entry[2]) };
}

function waitUntilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    server.stderr?.on('data', (chunk: Buffer) => {
      output += chunk;
      if (output.includes('database system is ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL exited immediately: ${output}`)));
  });
}
