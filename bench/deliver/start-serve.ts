import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { benchMasterKey } from '../bench-service.ts';
import { readResident } from '../machine-use.ts';
import { runtimeEnvironment, runtimeOptions } from '../runtime-options.ts';

const program = join(import.meta.dirname, '../../src/main.ts');

/** An installation's node: `serve` with a process for each core. */
export interface BenchNode {
  /** Where it answers HTTP. */
  readonly url: string;
  /** Of its first process, whose children do the work. */
  readonly pid: number;
  /** Megabytes that its processes hold together, the one that watches them included. */
  memory(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts `serve` on a database, sending to a relay on this machine; resolves once it answers. */
export async function startServe(
  databaseUrl: string,
  sinkPort: number,
  connections: number,
  nodeOptions: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<BenchNode> {
  const child = spawn(process.execPath, [...runtimeOptions, ...nodeOptions, program, 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      ...runtimeEnvironment,
      DATABASE_URL: databaseUrl,
      SIGNALPOST_KEY: benchMasterKey,
      PORT: '0',
      SMTP_URL: `smtp://127.0.0.1:${sinkPort}?tls=off&connections=${connections}&messages=100000`,
      LOG_LEVEL: 'warn',
      ...environment,
    },
  });
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      const match = /answers at (http:\S+)/.exec(text);
      if (match?.[1] !== undefined) resolve(match[1]);
    });
    void exit.then(() => reject(new Error('the service ended before it answered')));
  });
  const pid = child.pid ?? 0;
  return {
    url,
    pid,
    async memory() {
      const sizes = readResident([pid, ...(await childrenOf(pid))]).values();
      return sizes.reduce((sum, size) => sum + size, 0) / 1_048_576;
    },
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').filter(Boolean).map(Number);
}
