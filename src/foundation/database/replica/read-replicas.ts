import { Kysely, PostgresDialect } from 'kysely';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Log } from '../../log.ts';
import { metricOptions } from '../../metrics/metric-options.ts';
import { splitDatabaseUrl } from '../database-url.ts';
import { type Database, openDatabase, type Tables } from '../open-database.ts';
import type { SharedPool } from '../shared-pool.ts';
import { ReadReplica } from './read-replica.ts';
import { asPoolClient, ReadingClient, type ReplicaSource } from './reading-client.ts';
import { readPrimaryPosition, type WalPosition } from './replica-position-store.ts';
import { shareNext } from './share-next.ts';

/**
 * What a read must show. `current`: everything that was committed before it was asked, so that people see their own changes,
 * through any node. `recent`: everything older than `maxReplicaLagMs`.
 */
export type ReadFreshness = 'current' | 'recent';

/** How long the primary may take to say how far it is. */
const positionTimeoutMs = 2_000;

export interface ReadReplicasOptions {
  /** DATABASE_READ_URL; undefined: the primary serves everything. */
  readonly url: string | undefined;
  readonly primary: Database;
  /** The connections of reads that the primary serves. */
  readonly primaryPool: SharedPool;
  /** Max connections of this process to each replica. */
  readonly connections: number;
  readonly log: Log;
  readonly metrics: Registry;
}

/** The replicas that may serve reads which decide nothing: reports, lists and exports. */
export class ReadReplicas {
  readonly #options: ReadReplicasOptions;
  readonly #replicas: readonly ReadReplica[];
  readonly #reads: Counter | undefined;
  /** Its own connection, so that it doesn't wait behind reads. */
  readonly #positions: Database | undefined;
  readonly #readPosition: () => Promise<WalPosition>;

  constructor(options: ReadReplicasOptions) {
    this.#options = options;
    const { url, metrics, ...shared } = options;
    const urls = url === undefined ? [] : splitDatabaseUrl(url, 'DATABASE_READ_URL');
    this.#replicas = urls.map((each) => new ReadReplica({ ...shared, url: each }));
    this.#reads = urls.length === 0 ? undefined : this.#registerMetrics(metrics);
    this.#positions =
      urls.length === 0
        ? undefined
        : openDatabase(options.primary.settings, {
            applicationName: 'signalpost replica',
            maxConnections: 1,
            statementTimeoutMs: positionTimeoutMs,
          });
    const { pool } = this.#positions ?? options.primary;
    this.#readPosition = shareNext(() => readPrimaryPosition(pool));
  }

  start(): void {
    for (const replica of this.#replicas) replica.start();
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.close()));
    await this.#positions?.close();
  }

  /**
   * The database for a read. Its query builder asks a replica while one is fresh enough; a transaction, and its pool, use the
   * primary.
   */
  forRead(account: string, freshness: ReadFreshness): Database {
    const primary = this.#options.primaryPool.forAccount(account);
    if (this.#replicas.length === 0) return primary;
    const choice = new ReplicaChoice(this.#replicas, {
      account,
      freshness,
      readPosition: this.#readPosition,
    });
    const source = {
      findReplica: async () => {
        const replica = await choice.find();
        this.#reads?.inc({ server: replica === undefined ? 'primary' : 'replica' });
        return replica;
      },
      connectToPrimary: () => this.#options.primaryPool.connect(account),
    };
    const connect = async () => asPoolClient(new ReadingClient(source));
    const end = async () => undefined;
    const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: { connect, end } }) });
    return { ...primary, kysely };
  }

  #registerMetrics(registry: Registry): Counter {
    const replicas = this.#replicas;
    new Gauge({
      ...metricOptions('signalpost_replica_lag_seconds', registry),
      collect() {
        this.reset();
        for (const { name, lagMs } of replicas)
          if (lagMs !== undefined) this.set({ replica: name }, lagMs / 1_000);
      },
    });
    new Gauge({
      ...metricOptions('signalpost_replica_used', registry),
      collect() {
        for (const { name, problem } of replicas)
          this.set({ replica: name }, problem === undefined ? 1 : 0);
      },
    });
    return new Counter(metricOptions('signalpost_replica_reads_total', registry));
  }
}

interface ReadRequest {
  readonly account: string;
  readonly freshness: ReadFreshness;
  /** How far the primary is when it is called. */
  readonly readPosition: () => Promise<WalPosition>;
}

/** Which replica serves the statements of one request. */
class ReplicaChoice {
  readonly #replicas: readonly ReadReplica[];
  readonly #request: ReadRequest;
  /** Where the primary was at the first statement. */
  #position: Promise<WalPosition> | undefined;
  /** Replicas that are known to show everything before it. */
  readonly #reached = new Set<ReadReplica>();

  constructor(replicas: readonly ReadReplica[], request: ReadRequest) {
    this.#replicas = replicas;
    this.#request = request;
  }

  async find(): Promise<ReplicaSource | undefined> {
    for (const replica of this.#replicas) {
      if (!replica.isRecent()) continue;
      if (this.#request.freshness === 'current' && !(await this.#hasReached(replica))) continue;
      return {
        connect: () => replica.connect(this.#request.account),
        lost: replica.lost,
        suspect: (error) => replica.suspect(error),
      };
    }
    return undefined;
  }

  async #hasReached(replica: ReadReplica): Promise<boolean> {
    if (this.#reached.has(replica)) return true;
    this.#position ??= this.#request.readPosition();
    if (!(await replica.catchUp(await this.#position))) return false;
    this.#reached.add(replica);
    return true;
  }
}
