import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { freePort } from './free-port.ts';

/** Debian's NATS server with JetStream, which keeps its streams over a restart. */
export class NatsServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'signalpost-nats-'));
  readonly #options: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(port: number, options: readonly string[]) {
    this.port = port;
    this.#options = options;
    after(async () => {
      await this.stop();
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  /** @param options of the server */
  static async open(...options: string[]): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), options);
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const child = spawn(
      'nats-server',
      ['-a', '127.0.0.1', '-p', String(this.port), '-js', '-sd', this.#folder, ...this.#options],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.#child = child;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Server is ready')) resolve();
      });
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`nats-server ended:\n${output}`)));
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
}
