import { sql } from 'kysely';
import type { Database } from './open-database.ts';

/** Runs statements in a transaction, or each separately on the pool. */
export type Kysely = Database['kysely'];

/**
 * Runs a statement, with its values as parameters: `await query(kysely)<Row>` and the SQL as a template.
 * @returns its rows
 */
export const query =
  (kysely: Kysely) =>
  async <Row = unknown>(text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> => {
    const { rows } = await sql<Row>(text, ...values).execute(kysely);
    return rows;
  };

/**
 * Runs a statement as `query` does.
 * @returns how many rows it inserted, updated or deleted
 */
export const countChanged =
  (kysely: Kysely) =>
  async (text: TemplateStringsArray, ...values: unknown[]): Promise<number> => {
    const { numAffectedRows = 0n } = await sql(text, ...values).execute(kysely);
    return Number(numAffectedRows);
  };
