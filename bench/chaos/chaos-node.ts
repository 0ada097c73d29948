import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { benchKey } from '../bench-service.ts';

const program = join(import.meta.dirname, '../../src/main.ts');

/** One node of the service under test, started again whenever it ends. */
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

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.#url = undefined;
    this.#child?.kill(signal);
  }

  async end(): Promise<void> {
    this.#ending = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await exit;
  }

  #runOnce(): Promise<void> {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', program, 'serve'],
      {
        stdio: ['ignore', 'pipe', process.env.CHAOS_LOG === undefined ? 'ignore' : 'inherit'],
        env: {
          PATH: process.env.PATH,
          DATABASE_URL: this.#databaseUrl,
          SIGNALPOST_KEY: benchKey,
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
