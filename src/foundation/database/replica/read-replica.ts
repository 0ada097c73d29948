import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../../log.ts';
import { PeriodicTask } from '../../periodic-task.ts';
import { type Database, describeServer, openDatabase } from '../open-database.ts';
import { openSharedPool, type SharedPool } from '../shared-pool.ts';
import { ReplicaLag } from './replica-lag.ts';
import {
  comparePositions,
  type PrimaryState,
  type ReplicaState,
  readPrimaryState,
  readReplicaPosition,
  readReplicaState,
  type WalPosition,
} from './replica-position-store.ts';
import { shareNext } from './share-next.ts';

/** Between looks at both servers. */
const probeIntervalMs = 1_000;
/** How long a server may take to respond to one. */
const probeTimeoutMs = 2_000;
/** How long a read waits for the replica to catch up; a page usually loads faster than a person notices. */
const catchUpTimeoutMs = 250;
const catchUpPollMs = 10;
/**
 * How far behind reports may be. They are rolled up a second or two after the events anyway; after ten, someone who looks at
 * them while a campaign is sent would doubt them.
 */
export const maxReplicaLagMs = 10_000;

export interface ReadReplicaOptions {
  readonly url: string;
  readonly primary: Database;
  /** Max connections of this process for reads. */
  readonly connections: number;
  readonly log: Log;
}

/**
 * A replica of the database, as long as it is one: it is asked every second whether it still follows the primary, and how far
 * it is.
 */
export class ReadReplica {
  readonly name: string;
  readonly #options: ReadReplicaOptions;
  readonly #probe: Database;
  readonly #pool: SharedPool;
  readonly #lag = new ReplicaLag();
  readonly #task: PeriodicTask;
  /** Why it isn't used. */
  #problem: string | undefined = 'it hasn’t been asked yet';
  #isLogged = false;
  #lost = new AbortController();
  readonly #readPosition = shareNext(() => readReplicaPosition(this.#probe.pool));

  constructor(options: ReadReplicaOptions) {
    const settings = { url: options.url };
    this.#options = options;
    this.name = describeServer(settings);
    this.#probe = openDatabase(settings, {
      applicationName: 'signalpost replica',
      maxConnections: 2,
      statementTimeoutMs: probeTimeoutMs,
    });
    this.#pool = openSharedPool({ ...this.#probe, settings }, options.connections);
    this.#task = new PeriodicTask(probeIntervalMs, () => this.#look());
  }

  start(): void {
    this.#task.start();
    this.#task.runNow();
  }

  async close(): Promise<void> {
    await this.#task.stop();
    this.#lost.abort();
    await this.#pool.close();
    await this.#probe.close();
  }

  /** Why the primary serves reads instead; undefined if the replica is used. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Milliseconds since when it may miss commits; undefined if it isn't known or isn't a replica of this database. */
  get lagMs(): number | undefined {
    return this.#lag.measure();
  }

  /** Aborts when the replica stops responding. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** A connection for an account's read. @throws Busy if it gets none in time */
  connect(account: string): Promise<pg.PoolClient> {
    return this.#pool.connect(account);
  }

  /** Whether it follows the primary closely enough for reports. */
  isRecent(): boolean {
    const lag = this.lagMs;
    return this.#problem === undefined && lag !== undefined && lag <= maxReplicaLagMs;
  }

  /** Waits a moment until the replica shows everything before a position. @returns false if it doesn't */
  async catchUp(position: WalPosition): Promise<boolean> {
    // Waiting is only worth it for one that keeps up.
    const lag = this.lagMs;
    if (this.#problem !== undefined || lag === undefined || lag > 3 * probeIntervalMs) return false;
    const deadline = performance.now() + catchUpTimeoutMs;
    while (comparePositions(await this.#readPosition(), position) < 0) {
      if (performance.now() > deadline || this.#lost.signal.aborted) return false;
      await delay(catchUpPollMs);
    }
    return true;
  }

  /** Stops using the replica until it responds again. */
  suspect(error: unknown): void {
    this.#stopUsing(
      `it doesn’t respond: ${error instanceof Error ? error.message : String(error)}`,
    );
  }

  async #look(): Promise<void> {
    const askedAt = performance.now();
    let primary: PrimaryState;
    try {
      primary = await readPrimaryState(this.#options.primary.pool);
    } catch {
      // Without the primary, the lag is unknown, and may grow.
      return;
    }
    this.#lag.notePrimary(primary.position, askedAt);
    let replica: ReplicaState;
    try {
      replica = await readReplicaState(this.#probe.pool);
    } catch (error) {
      this.suspect(error);
      return;
    }
    const problem = findReplicaProblem(primary, replica);
    if (problem !== undefined) {
      this.#lag.clear();
      this.#stopUsing(problem);
      return;
    }
    this.#lag.noteReplica(replica.position ?? '0/0');
    const lag = this.#lag.measure();
    if (lag === undefined || lag > maxReplicaLagMs)
      this.#report(`it is more than ${maxReplicaLagMs / 1_000} seconds behind`);
    else this.#use();
  }

  #use(): void {
    if (this.#lost.signal.aborted) this.#lost = new AbortController();
    if (this.#isLogged)
      this.#options.log.info({ replica: this.name }, 'reads reports and lists from the replica');
    this.#isLogged = false;
    this.#problem = undefined;
  }

  #stopUsing(problem: string): void {
    this.#report(problem);
    this.#lost.abort();
  }

  #report(problem: string): void {
    this.#problem = problem;
    if (this.#isLogged) return;
    this.#isLogged = true;
    this.#options.log.warn(
      { replica: this.name, problem },
      'the replica isn’t used; the primary serves reports and lists',
    );
  }
}

/** Why a server can't serve reads of the primary, apart from its lag; undefined if it can. */
export function findReplicaProblem(
  primary: PrimaryState,
  replica: ReplicaState,
): string | undefined {
  if (!replica.inRecovery) return 'it isn’t a replica: it accepts writes';
  if (replica.identity !== primary.identity) return 'it is a replica of another database';
  if (replica.timeline !== primary.timeline)
    return 'it hasn’t followed the promotion of the primary yet';
  return undefined;
}
