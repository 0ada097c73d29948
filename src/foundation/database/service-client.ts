import pg from 'pg';

type Callback = (error: Error | null | undefined, result: pg.QueryResult) => void;

/** What `pg` keeps of a statement. */
interface Statement extends pg.Submittable {
  values: unknown[] | undefined;
  callback: Callback;
  query_timeout: number | undefined;
}

/** A connection of the service's pools. */
export class ServiceClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.query = ((...args: readonly unknown[]) => this.#query(args)) as pg.Client['query'];
  }

  #query(args: readonly unknown[]): unknown {
    const [request, second, third] = args;
    if (isSubmittable(request)) return super.query(request);
    const values = Array.isArray(second) ? second : undefined;
    const callback = [second, third].find((one) => typeof one === 'function');
    const statement = new pg.Query(request as pg.QueryConfig, values) as unknown as Statement;
    statement.query_timeout = (request as { query_timeout?: number }).query_timeout;
    if (callback !== undefined) return this.#submit(statement, callback as Callback);
    const answer = new Promise<pg.QueryResult>((resolve, reject) => {
      this.#submit(statement, (error, result) => (error ? reject(error) : resolve(result)));
    });
    return answer.catch((error: Error) => {
      // The stack that leads to whoever asked, instead of to the socket.
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

  /**
   * A server that has been silent for too long: a statement that was given up still occupies the connection, so the next one
   * would wait behind it.
   */
  #abortConnection(): void {
    this.end().catch(() => undefined);
  }
}

function isSubmittable(request: unknown): request is pg.Submittable {
  return typeof request === 'object' && request !== null && 'submit' in request;
}

const nothing = (): void => undefined;

/**
 * Lets go of what a finished statement carried. The collector of young garbage does not free them all by itself: from some
 * moment on each statement of a connection becomes old, with a hundred kilobytes of parameters, and all of them are kept until
 * old objects are looked through.
 */
function releaseReferences(statement: Statement): void {
  statement.callback = nothing;
  statement.values = undefined;
}
