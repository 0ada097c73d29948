import type pg from 'pg';
import type { Database } from '../../base/database/open-database.ts';

/**
 * Timeout for queue statements, so that a lost database connection doesn't block a worker. Shorter than a lease, so
 * pending work can still be settled under its lease.
 */
const statementTimeoutMs = 10_000;

/** A named prepared statement, prepared once per connection. */
export interface QueueStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** Runs a queue statement with a timeout. @param first runs before it, in a transaction with it */
export async function runQueueStatement<Row extends pg.QueryResultRow>(
  { queuePool }: Database,
  statement: QueueStatement,
  first?: QueueStatement,
): Promise<pg.QueryResult<Row>> {
  const timed = (given: QueueStatement) => ({ ...given, query_timeout: statementTimeoutMs });
  if (first === undefined) return queuePool.query<Row>(timed(statement));
  const client = await queuePool.connect();
  try {
    await client.query('begin');
    await client.query(timed(first));
    const result = await client.query<Row>(timed(statement));
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // Closing the connection ends its transaction.
    client.release(true);
    throw error;
  }
}
