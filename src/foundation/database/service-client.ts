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
    this.query = ((...given: readonly unknown[]) => this.#query(given)) as pg.Client['query'];
  }

  #query(given: readonly unknown[]): unknown {
    const [asked, second, third] = given;
    if (isSubmittable(asked)) return super.query(asked);
    const values = Array.isArray(second) ? second : undefined;
    const callback = [second, third].find((one) => typeof one === 'function');
    const statement = new pg.Query(asked as pg.QueryConfig, values) as unknown as Statement;
    statement.query_timeout = (asked as { query_timeout?: number }).query_timeout;
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
      forget(statement);
      if (error?.message === 'Query read timeout') this.#breakOff();
      callback(error, result);
    };
    super.query(statement);
  }

  /**
   * A server that has been silent for too long: a statement that was given up still occupies the connection, so the next one
   * would wait behind it.
   */
  #breakOff(): void {
    this.end().catch(() => undefined);
  }
}

function isSubmittable(asked: unknown): asked is pg.Submittable {
  return typeof asked === 'object' && asked !== null && 'submit' in asked;
}

const nothing = (): void => undefined;

/**
 * Lets go of what a finished statement carried. The collector of young garbage does not free them all by itself: from some
 * moment on each statement of a connection becomes old, with a hundred kilobytes of parameters, and all of them are kept until
 * old objects are looked through.
 */
function forget(statement: Statement): void {
  statement.callback = nothing;
  statement.values = undefined;
}
