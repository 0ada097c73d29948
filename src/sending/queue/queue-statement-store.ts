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

/** Runs a queue statement with a timeout. */
export function runQueueStatement<Row extends pg.QueryResultRow>(
  database: Database,
  statement: QueueStatement,
): Promise<pg.QueryResult<Row>> {
  const query = { ...statement, query_timeout: statementTimeoutMs };
  return database.queuePool.query<Row>(query);
}
