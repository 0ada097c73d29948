import pg from 'pg';

type Callback = (error: Error | null | undefined, result: pg.QueryResult) => void;

/** The fields that `pg` keeps on a statement. */
interface Statement extends pg.Submittable {
  values: unknown[] | undefined;
  callback: Callback;
  query_timeout: number | undefined;
}

/** A pooled connection. */
export class ServiceClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.query = ((...args: readonly unknown[]) => this.#query(args)) as pg.Client['query'];
  }

  #query(args: readonly unknown[]): unknown {
    const [request, second, third] = args;
    if (isSubmittable(request)) return super.query(request);
    const values = Array.isArray(second) ? second : undefined;
    const callback = [second, third].find((argument) => typeof argument === 'function');
    const statement = new pg.Query(request as pg.QueryConfig, values) as unknown as Statement;
    statement.query_timeout = (request as { query_timeout?: number }).query_timeout;
    if (callback !== undefined) return this.#submit(statement, callback as Callback);
    const answer = new Promise<pg.QueryResult>((resolve, reject) => {
      this.#submit(statement, (error, result) => (error ? reject(error) : resolve(result)));
    });
    return answer.catch((error: Error) => {
      // Shows the caller's stack instead of the socket's.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  #submit(statement: Statement, callback: Callback): void {
    statement.callback = (error, result) => {
      releaseReferences(statement);
      if (error?.message === 'Query read timeout') this.#abortConnection();
      callback(error, result);
    };
    super.query(statement);
  }

  /** After a timeout, the statement still occupies the connection, so the next one would wait behind it. */
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
