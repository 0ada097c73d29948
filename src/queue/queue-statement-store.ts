import type pg from 'pg';
import type { Database } from '../foundation/database/open-database.ts';

/**
 * Milliseconds after which a statement of the queue counts as lost. A database that was cut off without a word must not
 * hold a worker for longer; less than a lease, so that what waits for an answer can still be settled under its lease.
 */
const statementTimeoutMs = 10_000;

/** A statement that each connection prepares once, under its name. */
export interface QueueStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** Runs a statement of the queue, with bounded patience. */
export function runQueueStatement<Row extends pg.QueryResultRow>(
  database: Database,
  statement: QueueStatement,
): Promise<pg.QueryResult<Row>> {
  const query = { ...statement, query_timeout: statementTimeoutMs };
  return database.queuePool.query<Row>(query);
}
