import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Tables } from '../../src/base/database/open-database.ts';

/** What statements touched. */
export interface StatementCost {
  /** Pages of tables and indexes, counted at each access. */
  buffers: number;
  /** Rows that the nodes of their plans returned or removed. */
  rows: number;
}

interface PlanNode {
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

const measurable = /^\s*(select|insert|update|delete|with)\b/i;

/**
 * Runs work and measures each of its statements with EXPLAIN (ANALYZE, BUFFERS), which is undone before the statement itself runs.
 * @param settings of the connections, such as those of followers
 */
export async function measureCost(
  url: string,
  settings: string,
  work: (kysely: Kysely<Tables>) => Promise<unknown>,
): Promise<StatementCost> {
  const cost: StatementCost = { buffers: 0, rows: 0 };
  class MeasuringClient extends pg.Client {
    #isOpen = false;

    // biome-ignore lint/suspicious/noExplicitAny: the driver has several signatures, and others call only this one
    override async query(text: any, values?: any): Promise<any> {
      const run = (statement: string, more?: unknown[]) => super.query(statement, more);
      if (typeof text !== 'string') return super.query(text, values);
      if (/^begin/.test(text)) this.#isOpen = true;
      if (/^(commit|rollback)/.test(text)) this.#isOpen = false;
      if (measurable.test(text)) {
        await run(this.#isOpen ? 'savepoint measured' : 'begin');
        const { rows } = await run(`explain (analyze, buffers, format json) ${text}`, values);
        await run(this.#isOpen ? 'rollback to savepoint measured' : 'rollback');
        addCost(cost, rows[0]['QUERY PLAN'][0].Plan);
      }
      return run(text, values);
    }
  }
  const address = new URL(url);
  const options = `${address.searchParams.get('options') ?? ''} ${settings}`;
  address.searchParams.set('options', options);
  const pool = new pg.Pool({ connectionString: address.href, max: 1, Client: MeasuringClient });
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await work(kysely);
  } finally {
    await kysely.destroy();
  }
  return cost;
}

/** Blocks of a node include those of the nodes below it, except of those that write after the node has ended. */
function addCost(cost: StatementCost, node: PlanNode): void {
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + blocksOf(plan), 0);
  cost.buffers += Math.max(0, blocksOf(node) - below);
  const each =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0);
  cost.rows += each * (node['Actual Loops'] ?? 0);
  for (const plan of node.Plans ?? []) addCost(cost, plan);
}

function blocksOf(node: PlanNode): number {
  return (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);
}
