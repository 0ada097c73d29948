import { createHash } from 'node:crypto';
import pg from 'pg';
import type { PrimaryFinder } from './primary-finder.ts';
import { codeOf } from './sqlstate.ts';

type Callback = (error: Error | null | undefined, result: pg.QueryResult) => void;

/** The fields that `pg` keeps on a statement. */
interface Statement extends pg.Submittable {
  values: unknown[] | undefined;
  callback: Callback;
  query_timeout: number | undefined;
}

/** How to connect; `finder` knows where, if there are several servers. */
export interface ServiceClientConfig extends pg.ClientConfig {
  readonly finder?: PrimaryFinder | undefined;
  /** Parses each statement with parameters once per connection, for few statements that are repeated. */
  readonly preparesAll?: boolean;
}

/** The parts of the driver's connection that its types don't have. */
interface DriverInternals {
  readonly connection: pg.Connection;
}

/** A migration added a column to what a prepared statement returns. */
const resultChanged = '0A000';

/** How long a statement may take before the server is suspected, and between later searches. */
const doubtMs = 1_000;

/** A connection of the service: to the primary if there are several servers. */
export class ServiceClient extends pg.Client {
  readonly #finder: PrimaryFinder | undefined;
  readonly #preparesAll: boolean;
  #isStandby = false;

  constructor(config?: string | ServiceClientConfig) {
    super(config);
    this.#finder = typeof config === 'object' ? config.finder : undefined;
    this.#preparesAll = typeof config === 'object' && config.preparesAll === true;
    this.query = ((...args: readonly unknown[]) => this.#query(args)) as pg.Client['query'];
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
    const finder = this.#finder;
    if (finder !== undefined) {
      const connecting = this.#connectToPrimary(finder);
      if (callback === undefined) return connecting;
      connecting.then(() => callback(null), callback);
    } else if (callback === undefined) return super.connect() as Promise<this>;
    else super.connect(callback);
    return undefined;
  }

  /** Says that the server doesn't respond, so that its successor is looked for. */
  suspectServer(): void {
    this.#finder?.suspect();
  }

  async #connectToPrimary(finder: PrimaryFinder): Promise<this> {
    const { connection } = this as unknown as DriverInternals;
    const address = await finder.find();
    if (connection.stream.destroyed) throw new Error('timeout exceeded when trying to connect');
    Object.assign(this, address);
    connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    });
    const connected = { drop: () => connection.stream.destroy() };
    this.once('end', () => finder.forget(connected));
    this.on('error', () => finder.suspect());
    finder.track(connected, address);
    try {
      await super.connect();
    } catch (error) {
      finder.suspect();
      throw error;
    }
    if (!this.#isStandby) return this;
    finder.suspect();
    this.end().catch(() => undefined);
    throw Object.assign(new Error('the server is a standby'), { code: '57P03' });
  }

  #query(args: readonly unknown[]): unknown {
    const [request, second, third] = args;
    if (isSubmittable(request)) return super.query(request);
    const values = Array.isArray(second) ? second : undefined;
    const callback = [second, third].find((argument) => typeof argument === 'function');
    const named =
      this.#preparesAll && typeof request === 'string' && values !== undefined && values.length > 0
        ? { text: request, name: createHash('sha256').update(request).digest('base64url') }
        : (request as pg.QueryConfig);
    const statement = new pg.Query(named, values) as unknown as Statement;
    statement.query_timeout = (request as { query_timeout?: number }).query_timeout;
    if (callback !== undefined) return this.#submit(statement, callback as Callback);
    const response = new Promise<pg.QueryResult>((resolve, reject) => {
      this.#submit(statement, (error, result) => (error ? reject(error) : resolve(result)));
    });
    return response.catch((error: Error) => {
      // Shows the caller's stack instead of the socket's.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  #submit(statement: Statement, callback: Callback): void {
    const doubt = this.#doubtRepeatedly();
    statement.callback = (error, result) => {
      clearInterval(doubt);
      releaseReferences(statement);
      if (error?.message === 'Query read timeout') {
        this.#abortConnection();
        this.suspectServer();
      } else if (this.#preparesAll && codeOf(error) === resultChanged) this.#abortConnection();
      callback(error, result);
    };
    super.query(statement);
  }

  /**
   * Searches for another primary while a statement takes long: an old one that still runs waits for standbys that have left it.
   */
  #doubtRepeatedly(): NodeJS.Timeout | undefined {
    const finder = this.#finder;
    return finder && setInterval(() => finder.suspect(), doubtMs).unref();
  }

  /** Another connection takes over: after a timeout, because the statement still occupies this one. */
  #abortConnection(): void {
    this.end().catch(() => undefined);
  }
}

function isSubmittable(request: unknown): request is pg.Submittable {
  return typeof request === 'object' && request !== null && 'submit' in request;
}

const nothing = (): void => undefined;

/**
 * Releases the parameters of a finished statement. Otherwise statements get promoted to the old generation, each with a hundred
 * kilobytes of parameters that stay until a full garbage collection.
 */
function releaseReferences(statement: Statement): void {
  statement.callback = nothing;
  statement.values = undefined;
}
