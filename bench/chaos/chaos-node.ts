import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { benchMasterKey } from '../bench-service.ts';
import { processTree, signalAll } from '../process-tree.ts';

const program = join(import.meta.dirname, '../../src/main.ts');

/** Longer than an orderly stop may take. */
const stopTimeoutMs = 40_000;

/** One node of the service under test, of a first process and two that work, started again whenever it ends. */
export class ChaosNode {
  readonly #databaseUrl: string;
  readonly #sinkPort: number;
  #child: ChildProcess | undefined;
  #url: string | undefined;
  #ending = false;

  constructor(databaseUrl: string, sinkPort: number) {
    this.#databaseUrl = databaseUrl;
    this.#sinkPort = sinkPort;
  }

  /** Where it answers; undefined while it does not. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Starts it, and keeps starting it until `end`. */
  async run(): Promise<void> {
    while (!this.#ending) {
      await this.#runOnce();
      this.#url = undefined;
      if (!this.#ending) await delay(500);
    }
  }

  /** To its first process alone. @returns false where there is none */
  signal(signal: NodeJS.Signals): boolean {
    return this.#signal(this.#pids().slice(0, 1), signal);
  }

  /** To all of its processes. @returns false where there is none */
  signalAll(signal: NodeJS.Signals): boolean {
    return this.#signal(this.#pids(), signal);
  }

  /** Ends one of the processes that work, and leaves the others. @returns false where there is none */
  killWorker(): boolean {
    const workers = this.#pids().slice(1);
    const victim = workers[Math.floor(Math.random() * workers.length)];
    return victim !== undefined && signalAll([victim], 'SIGKILL') > 0;
  }

  /** Stops it in order, and by force where that takes too long. */
  async end(): Promise<void> {
    this.#ending = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once('exit', resolve));
    this.signalAll('SIGCONT');
    child.kill('SIGTERM');
    const force = setTimeout(() => this.signalAll('SIGKILL'), stopTimeoutMs);
    await exit;
    clearTimeout(force);
  }

  #pids(): number[] {
    return this.#child?.pid === undefined ? [] : processTree(this.#child.pid);
  }

  #signal(pids: readonly number[], signal: NodeJS.Signals): boolean {
    if (signal === 'SIGKILL') this.#url = undefined;
    return signalAll(pids, signal) > 0;
  }

  #runOnce(): Promise<void> {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', program, 'serve', '--processes', '2'],
      {
        stdio: ['ignore', 'pipe', process.env.CHAOS_LOG === undefined ? 'ignore' : 'inherit'],
        env: {
          PATH: process.env.PATH,
          DATABASE_URL: this.#databaseUrl,
          SIGNALPOST_KEY: benchMasterKey,
          PORT: '0',
          SMTP_URL: `smtp://127.0.0.1:${this.#sinkPort}?tls=off&connections=10`,
          LOG_LEVEL: process.env.CHAOS_LOG ?? 'error',
        },
      },
    );
    this.#child = child;
    let printed = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk;
      const match = /answers at (http:\S+)/.exec(printed);
      if (match !== null) this.#url = match[1];
    });
    return new Promise((resolve) => child.once('exit', () => resolve()));
  }
}
