import type pg from 'pg';
import { splitStatements } from './split-statements.ts';

const indexPattern =
  /^create (?<unique>unique )?index concurrently (?<name>\w+) on (?<table>\w+) (?<definition>.+)$/i;

/** Indexes of partitions add a number to the name, and names have at most 63 bytes. */
const maxNameLength = 50;

interface IndexDefinition {
  readonly unique: string;
  readonly name: string;
  readonly table: string;
  /** What follows the table's name. */
  readonly definition: string;
}

type RunStatement = (text: string) => Promise<pg.QueryResult>;

/** Whether a migration builds indexes while rows are written, so it can't run in a transaction. */
export function buildsConcurrently(sql: string): boolean {
  return splitStatements(sql).some((statement) => /^create [\w ]*concurrently/i.test(statement));
}

/**
 * The indexes that a migration builds.
 * @throws if the migration contains anything else, because it may run several times
 */
export function parseIndexes(sql: string): IndexDefinition[] {
  return splitStatements(sql).map((statement) => {
    const {
      unique = '',
      name = '',
      table = '',
      definition = '',
    } = indexPattern.exec(statement)?.groups ?? {};
    if (name === '' || name.length > maxNameLength)
      throw new Error(
        `a migration with a concurrent index consists of “create index concurrently NAME on TABLE …”, with names of at most ${maxNameLength} characters: ${statement}`,
      );
    return { unique, name, table, definition };
  });
}

/**
 * Builds indexes while rows are read and written (`create index concurrently`), also on partitioned tables, for which
 * PostgreSQL can't: each partition gets its index, which that of the table then takes in without building it. Continues where
 * a process that was killed stopped: finished indexes, also of single partitions, are kept.
 * @param run runs a statement outside a transaction, for as long as it takes
 */
export async function buildIndexes(run: RunStatement, sql: string): Promise<void> {
  for (const { unique, name, table, definition } of parseIndexes(sql)) {
    const { rows } = await run(`select relid::oid as id, relid::text as table
      from pg_partition_tree('${table}') where isleaf`);
    if (rows.length === 0) {
      await buildIndex(run, { unique, name, table, definition });
      continue;
    }
    for (const { id, table: partition } of rows) {
      try {
        await buildIndex(run, { unique, name: `${name}_${id}`, table: partition, definition });
      } catch (error) {
        if (!(await isGone(run, id))) throw error;
      }
    }
    await run(`create ${unique}index if not exists ${name} on ${table} ${definition}`);
  }
}

async function buildIndex(run: RunStatement, index: IndexDefinition): Promise<void> {
  const { unique, name, table, definition } = index;
  // A build that failed or was killed leaves an invalid index, which slows writes and serves no reads.
  const { rows } = await run(
    `select from pg_index where indexrelid = to_regclass('${name}') and not indisvalid`,
  );
  if (rows.length > 0) await run(`drop index concurrently ${name}`);
  await run(`create ${unique}index concurrently if not exists ${name} on ${table} ${definition}`);
}

/** Whether a partition was dropped, because its messages were too old. */
async function isGone(run: RunStatement, id: number): Promise<boolean> {
  const { rows } = await run(`select from pg_class where oid = ${id}`);
  return rows.length === 0;
}
