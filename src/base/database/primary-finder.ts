import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Where a server of DATABASE_URL listens. */
export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
}

/** A connection that goes to the primary. */
export interface PrimaryConnection {
  /** Breaks it at once; statements in progress fail. */
  drop(): void;
}

/** How long a search may take: for a server to connect, and to say whether it is a standby. Doubles while nothing is found. */
const answerTimeoutMs = { first: 1_000, max: 8_000 };
/** How long to wait for other servers once one is known to accept writes. */
const othersTimeoutMs = 200;
/** Between attempts to connect to a server, and between searches that nobody depends on. */
const pauseMs = 250;
/** Between questions to a standby, which may be promoted at any moment. They share a connection, so they cost little. */
const questionIntervalMs = 100;

/** The timeline counts the promotions; a standby has no current one. */
const question = `select case when pg_is_in_recovery() then null
  else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

/**
 * Finds the server of a DATABASE_URL with several hosts that accepts writes, for all connections of the process. If it moves,
 * connections to the old one are dropped, also if that only hangs.
 */
export class PrimaryFinder {
  readonly #servers: readonly Server[];
  readonly #connections = new Map<PrimaryConnection, DatabaseHost>();
  #primary: DatabaseHost | undefined;
  #search: Promise<DatabaseHost> | undefined;
  #answerTimeoutMs = answerTimeoutMs.first;
  /** Of the last primary that was found. */
  #timeline: number | undefined;

  /** @param servers how to connect to each */
  constructor(servers: readonly pg.ClientConfig[]) {
    this.#servers = servers.map((config) => {
      const { host, port } = new pg.Client(config);
      return { config, address: { host, port } };
    });
  }

  /**
   * The primary, as found earlier if nothing suggests that it moved.
   * @throws Error with the code 57P03 if no server accepts writes
   */
  async find(): Promise<DatabaseHost> {
    return this.#search ?? this.#primary ?? this.#startSearch();
  }

  /** Searches again, because a server doesn't respond, ended a connection, or turned out to be a standby. */
  suspect(): void {
    if (this.#search === undefined) this.#startSearch().catch(() => undefined);
  }

  /** Registers a connection until it ends. */
  track(connection: PrimaryConnection, host: DatabaseHost): void {
    this.#connections.set(connection, host);
  }

  forget(connection: PrimaryConnection): void {
    this.#connections.delete(connection);
  }

  #startSearch(): Promise<DatabaseHost> {
    const search = this.#findPrimary();
    this.#search = search;
    search.then(
      (primary) => {
        this.#primary = primary;
        this.#search = undefined;
        this.#answerTimeoutMs = answerTimeoutMs.first;
        for (const [connection, host] of this.#connections) if (host !== primary) connection.drop();
      },
      () => {
        this.#primary = undefined;
        // On a busy machine, a second can be too short.
        this.#answerTimeoutMs = Math.min(2 * this.#answerTimeoutMs, answerTimeoutMs.max);
        if (this.#connections.size > 0) {
          // They hang until a primary is found, so the search continues without a gap.
          this.#startSearch().catch(() => undefined);
          return;
        }
        // Until then, callers get the same error.
        setTimeout(() => {
          this.#search = undefined;
        }, pauseMs).unref();
      },
    );
    return search;
  }

  async #findPrimary(): Promise<DatabaseHost> {
    const round = { deadline: performance.now() + this.#answerTimeoutMs };
    const responses = this.#servers.map((server) => askUntil(server, round));
    const found: PrimaryAnswer[] = [];
    for (const response of responses)
      response.then(
        (primary) => found.push(primary),
        () => undefined,
      );
    const first = await Promise.any(responses).catch((error: AggregateError) => {
      throw noPrimary(error.errors as Error[]);
    });
    round.deadline = 0;
    // A primary that was replaced may still run; the one that was promoted last is right.
    const isSuccessor = this.#timeline !== undefined && first.timeline > this.#timeline;
    if (!isSuccessor)
      await Promise.race([
        Promise.allSettled(responses),
        delay(othersTimeoutMs, undefined, { ref: false }),
      ]);
    const newest = Math.max(...found.map(({ timeline }) => timeline));
    this.#timeline = newest;
    const best = found.filter(({ timeline }) => timeline === newest);
    // Without a promotion, connections stay where they are.
    return (best.find(({ address }) => address === this.#primary) ?? best[0] ?? first).address;
  }
}

interface Server {
  readonly config: pg.ClientConfig;
  readonly address: DatabaseHost;
}

interface PrimaryAnswer {
  readonly address: DatabaseHost;
  readonly timeline: number;
}

/** Asks a server until it accepts writes, or the round is over. */
async function askUntil(
  server: Server,
  round: { readonly deadline: number },
): Promise<PrimaryAnswer> {
  for (;;) {
    try {
      return await askServer(server, round);
    } catch (error) {
      if (performance.now() + pauseMs >= round.deadline) throw error;
      await delay(pauseMs);
    }
  }
}

/** @throws Error if the server doesn't respond in time, or is still a standby when the round is over */
async function askServer(
  { config, address }: Server,
  round: { readonly deadline: number },
): Promise<PrimaryAnswer> {
  const timeoutMs = Math.max(1, round.deadline - performance.now());
  const client = new pg.Client({
    ...config,
    application_name: 'signalpost primary',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    for (;;) {
      const { rows } = await client.query<{ timeline: number | null }>(question);
      const timeline = rows[0]?.timeline ?? null;
      if (timeline !== null) return { address, timeline };
      if (performance.now() + questionIntervalMs >= round.deadline) throw new Error('is a standby');
      await delay(questionIntervalMs);
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${address.host}:${address.port}: ${reason}`, { cause });
  } finally {
    client.end().catch(() => undefined);
  }
}

function noPrimary(errors: readonly Error[]): Error {
  const reasons = errors.map(({ message }) => message).join('; ');
  return Object.assign(new Error(`no host accepts writes (${reasons})`), { code: '57P03' });
}
