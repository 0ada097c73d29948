import type { PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { Busy } from '../../errors.ts';
import { codeOf, isUnavailable } from '../sqlstate.ts';

/** Where the statements of a read go. */
export interface ReadingSource {
  /** A replica that is fresh enough; undefined for the primary. */
  findReplica(): Promise<ReplicaSource | undefined>;
  connectToPrimary(): Promise<pg.PoolClient>;
}

export interface ReplicaSource {
  connect(): Promise<pg.PoolClient>;
  /** Aborts when the replica stops responding. */
  readonly lost: AbortSignal;
  suspect(error: unknown): void;
}

const transaction = /^\s*(begin|start transaction)\b/i;
const timedOut = '57014';

/**
 * A connection for the query builder whose statements run on a replica, each again on the primary if the replica fails. A
 * transaction runs on the primary, because what it reads may decide what it writes.
 */
export class ReadingClient {
  readonly #source: ReadingSource;
  #primary: pg.PoolClient | undefined;
  #inTransaction = false;

  constructor(source: ReadingSource) {
    this.#source = source;
  }

  async query(text: string, values: unknown[]): Promise<pg.QueryResult> {
    this.#inTransaction ||= transaction.test(text);
    const response = this.#inTransaction ? undefined : await this.#askReplica(text, values);
    if (response !== undefined) return response;
    this.#primary ??= await this.#source.connectToPrimary();
    return await this.#primary.query(text, values);
  }

  release(): void {
    this.#primary?.release();
    this.#primary = undefined;
  }

  /** @returns undefined if the primary has to serve the read */
  async #askReplica(text: string, values: unknown[]): Promise<pg.QueryResult | undefined> {
    // Whether it is fresh enough may not be known in time, although the primary responds.
    const replica = await this.#source.findReplica().catch(() => undefined);
    if (replica === undefined) return undefined;
    try {
      return await queryUntilLost(replica, text, values);
    } catch (error) {
      // The primary would take as long, and has its own share for each account.
      if (error instanceof Busy || codeOf(error) === timedOut) throw error;
      if (isUnavailable(error)) replica.suspect(error);
      return undefined;
    }
  }
}

/** The part of a connection that the query builder uses without cursors. */
export function asPoolClient(client: ReadingClient): PostgresPoolClient {
  return client as unknown as PostgresPoolClient;
}

async function queryUntilLost(
  replica: ReplicaSource,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult> {
  const client = await replica.connect();
  let broken: Error | undefined;
  try {
    return await rejectIfAborted(replica.lost, client.query(text, values));
  } catch (error) {
    if (isUnavailable(error)) broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The result of work, or an error of a lost connection as soon as the signal aborts. */
async function rejectIfAborted<Result>(
  signal: AbortSignal,
  work: Promise<Result>,
): Promise<Result> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () =>
      reject(Object.assign(new Error('the replica doesn’t respond'), { code: 'ECONNRESET' }));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}
