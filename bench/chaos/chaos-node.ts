import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type NodeRole, nodeRoles } from '../../src/base/threads/node-role.ts';
import { benchMasterKey, type SpawnedProgram, spawnProgram } from '../bench-service.ts';
import { processTree, signalAll } from '../machine-use.ts';
import type { BenchSubmission } from '../submission/submission-files.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const serve = [
  '--disable-warning=ExperimentalWarning',
  main,
  'serve',
  '--processes',
  '2',
  '--role',
];
const logLevel = process.env.CHAOS_LOG;

/** Longer than a graceful shutdown may take. */
const stopTimeoutMs = 40_000;

/** A node of two worker processes that is restarted whenever it ends. */
export class ChaosNode {
  readonly #environment: Readonly<Record<string, string>>;
  /** Undefined: off. */
  readonly submission: BenchSubmission | undefined;
  #program: SpawnedProgram | undefined;
  /** Undefined while it is down. */
  url: string | undefined;
  readonly #turns: readonly (readonly NodeRole[])[];
  #roles: readonly NodeRole[] = [];
  #ending = false;

  /** @param turns its roles, in rotation at each start */
  constructor(
    databaseUrl: string,
    sinkPort: number,
    submission?: BenchSubmission,
    turns: readonly (readonly NodeRole[])[] = [nodeRoles],
  ) {
    this.submission = submission;
    this.#turns = turns;
    this.#environment = {
      ...submission?.environment,
      DATABASE_URL: databaseUrl,
      SIGNALPOST_KEY: benchMasterKey,
      PORT: '0',
      SMTP_URL: `smtp://127.0.0.1:${sinkPort}?tls=off&connections=10`,
      WEBHOOK_NETWORKS: '127.0.0.0/8',
      LOG_LEVEL: logLevel ?? 'error',
    };
  }

  /** Restarts it until `end`. */
  async run(): Promise<void> {
    const stderr = logLevel === undefined ? 'ignore' : 'inherit';
    for (let turn = 0; !this.#ending; turn += 1) {
      this.#roles = this.#turns[turn % this.#turns.length] ?? nodeRoles;
      const args = [...serve, this.#roles.join(',')];
      const program = spawnProgram(process.execPath, args, this.#environment, stderr);
      this.#program = program;
      program.url.then(
        (url) => {
          this.url = url;
        },
        () => undefined,
      );
      await program.exit;
      this.url = undefined;
      if (!this.#ending) await delay(500);
    }
  }

  /** Whether it is up, with a role. */
  serves(role: NodeRole): boolean {
    return this.url !== undefined && this.#roles.includes(role);
  }

  /** Signals the first process. @returns false if there is none */
  signal(signal: NodeJS.Signals): boolean {
    return this.#signal(this.#pids().slice(0, 1), signal);
  }

  signalAll(signal: NodeJS.Signals): boolean {
    return this.#signal(this.#pids(), signal);
  }

  killWorker(): boolean {
    const workers = this.#pids().slice(1);
    const index = Math.floor(Math.random() * workers.length);
    return signalAll(workers.slice(index, index + 1), 'SIGKILL') > 0;
  }

  /** Stops it gracefully, and kills it if that takes too long. */
  async end(): Promise<void> {
    this.#ending = true;
    this.signalAll('SIGCONT');
    this.signal('SIGTERM');
    const force = setTimeout(() => this.signalAll('SIGKILL'), stopTimeoutMs);
    await this.#program?.exit;
    clearTimeout(force);
  }

  #pids(): number[] {
    const pid = this.#program?.child.pid;
    return pid === undefined ? [] : processTree(pid);
  }

  #signal(pids: readonly number[], signal: NodeJS.Signals): boolean {
    if (signal === 'SIGKILL') this.url = undefined;
    return signalAll(pids, signal) > 0;
  }
}
