import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { makeProgramFolder, readPostgresIdentity } from '../../scripts/program-postgres.ts';
import { type StartedGate, startGate } from '../../test/support/tcp-gate.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { processTree, signalAll } from '../machine-use.ts';
import { configureMember, type ServerParameters } from './configure-member.ts';

/** A host of the cluster: Patroni and the PostgreSQL that it manages. Everyone reaches it through gates. */
export class PatroniMember {
  readonly name: string;
  readonly #home: string;
  readonly #port: number;
  readonly #postgresGate: StartedGate;
  readonly #gates: readonly StartedGate[];
  #patroni: ChildProcess | undefined;

  private constructor(name: string, home: string, port: number, gates: readonly StartedGate[]) {
    const [postgresGate] = gates;
    if (postgresGate === undefined) throw new Error('a member needs gates');
    this.name = name;
    this.#home = home;
    this.#port = port;
    this.#postgresGate = postgresGate;
    this.#gates = gates;
  }

  /**
   * Writes the configuration of a member; it doesn't run yet.
   * @param folder that PostgreSQL's user can read
   * @param etcdUrl of the cluster's state
   */
  static async create(
    name: string,
    folder: string,
    etcdUrl: string,
    synchronous: boolean,
    parameters?: ServerParameters,
  ): Promise<PatroniMember> {
    const home = join(folder, name);
    makeProgramFolder(home);
    const [port, apiPort] = [await freePort(), await freePort()];
    const gates = [
      await startGate(`http://127.0.0.1:${port}`),
      await startGate(`http://127.0.0.1:${apiPort}`),
      await startGate(etcdUrl),
    ] as const;
    const [postgres, api, etcd] = gates.map(({ url }) => new URL(url).host);
    const configuration = configureMember({
      ...{ name, home, port, apiPort, synchronous, parameters },
      ...{ postgres: postgres ?? '', api: api ?? '', etcd: etcd ?? '' },
    });
    await writeFile(join(folder, `${name}.json`), JSON.stringify(configuration));
    return new PatroniMember(name, home, port, gates);
  }

  /** Host and port for the service and the other members. */
  get host(): string {
    return new URL(this.#postgresGate.url).host;
  }

  /** Starts Patroni, which starts PostgreSQL or takes over the running one. */
  start(): void {
    const log = openSync(`${this.#home}.log`, 'a');
    this.#patroni = spawn('patroni', [`${this.#home}.json`], {
      ...readPostgresIdentity(),
      cwd: this.#home,
      stdio: ['ignore', log, log],
    });
  }

  /** Signals PostgreSQL's processes. @returns how many */
  signalPostgres(signal: NodeJS.Signals): number {
    const pids = this.#postgresPids();
    return signalAll(pids, signal);
  }

  signalPatroni(signal: NodeJS.Signals): void {
    this.#patroni?.kill(signal);
  }

  /** Signals both at once, as if the host failed. */
  signalAll(signal: NodeJS.Signals): void {
    this.signalPatroni(signal);
    this.signalPostgres(signal);
  }

  /** Cuts the host off from the service and etcd, and others from its data. */
  partition(): void {
    for (const gate of this.#gates) gate.hold();
  }

  /** Cuts standbys off from the data of this primary. */
  stopReplication(standbys: readonly PatroniMember[]): void {
    this.#postgresGate.hold(...standbys.map(({ name }) => name));
  }

  /** Ends both. */
  rejoin(): void {
    for (const gate of this.#gates) gate.open();
  }

  /** Posts to Patroni's API, as patronictl does. */
  async order(path: string, body: object = {}): Promise<void> {
    const gate = this.#gates[1];
    const response = await fetch(new URL(path, gate?.url), {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }

  /** Connects to PostgreSQL, past the gates. */
  async connect(timeoutMs: number): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: `postgres://postgres@127.0.0.1:${this.#port}/postgres`,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    const patroni = this.#patroni;
    this.signalAll('SIGCONT');
    this.signalAll('SIGKILL');
    if (patroni !== undefined && patroni.exitCode === null && patroni.signalCode === null)
      await once(patroni, 'exit');
    // Patroni may have started it a moment ago.
    while (this.signalPostgres('SIGKILL') > 0) await delay(20);
    for (const gate of this.#gates) gate.stop();
  }

  #postgresPids(): number[] {
    try {
      const text = readFileSync(join(this.#home, 'data/postmaster.pid'), 'utf8');
      const pid = Number(text.split('\n', 1)[0]);
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return command.includes(this.#home) ? processTree(pid) : [];
    } catch {
      return [];
    }
  }
}
