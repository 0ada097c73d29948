import type pg from 'pg';
import { type Migration, splitStatements } from './migration-files.ts';

/** What a statement of a migration makes others wait for. */
interface LockRule {
  readonly pattern: RegExp;
  /** What waits while rows are read or written; undefined: what waits, waits for milliseconds. */
  readonly blocks: 'writes' | 'everything' | 'nothing' | undefined;
  readonly work: string;
  /** Rows a second on two cores with a local disk; only to tell seconds from hours. */
  readonly rowsPerSecond: number;
}

/**
 * PostgreSQL's locks by statement (chapter "Explicit Locking"); the first rule that matches counts. Each names the table
 * in its first group.
 */
const rules: readonly LockRule[] = [
  {
    pattern: /^create (?:unique )?index concurrently \w+ on ([\w.]+)/i,
    blocks: 'nothing',
    work: 'an index is built',
    rowsPerSecond: 200_000,
  },
  {
    pattern: /^create (?:unique )?index (?:[\s\S]*? )?on (?:only )?([\w.]+)/i,
    blocks: 'writes',
    work: 'an index is built',
    rowsPerSecond: 400_000,
  },
  {
    pattern: /^alter table (?:only )?([\w.]+) validate constraint/i,
    blocks: 'nothing',
    work: 'a constraint is checked',
    rowsPerSecond: 1_000_000,
  },
  {
    pattern:
      /^alter table (?:only )?([\w.]+) (?:add (?:constraint|check|unique|primary|foreign)(?![\s\S]*not valid)|alter (?:column )?\w+ set not null)/i,
    blocks: 'everything',
    work: 'rows are checked',
    rowsPerSecond: 1_000_000,
  },
  {
    pattern: /^alter table (?:only )?([\w.]+) alter (?:column )?\w+ (?:set data )?type/i,
    blocks: 'everything',
    work: 'the table is rewritten',
    rowsPerSecond: 200_000,
  },
  {
    pattern: /^(?:update|delete from) ([\w.]+)/i,
    blocks: 'nothing',
    work: 'rows are changed',
    rowsPerSecond: 50_000,
  },
  {
    pattern:
      /^(?:alter table|drop table|drop trigger \w+ on|create trigger \w+[\s\S]*? on) (?:if exists )?(?:only )?([\w.]+)/i,
    blocks: undefined,
    work: '',
    rowsPerSecond: 1,
  },
];

/**
 * Says for each table that a migration locks what waits, and for about how long. The locks are held until the migration
 * ends.
 * @param client of the database to be migrated; tables that don't exist yet are skipped
 */
export async function planLocks(client: pg.Pool, { sql }: Migration): Promise<string[]> {
  const lines: string[] = [];
  for (const statement of splitStatements(sql)) {
    const rule = rules.find(({ pattern }) => pattern.test(statement));
    const table = rule?.pattern.exec(statement)?.[1];
    const rows = table === undefined ? undefined : await countRows(client, table);
    if (rule === undefined || table === undefined || rows === undefined) continue;
    const line = describeLock(rule, table, rows);
    if (!lines.includes(line)) lines.push(line);
  }
  return lines;
}

function describeLock(
  { blocks, work, rowsPerSecond }: LockRule,
  table: string,
  rows: number,
): string {
  if (blocks === undefined) return `${table}: locked for milliseconds`;
  const seconds = Math.ceil(rows / rowsPerSecond);
  const time = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
  const waits =
    blocks === 'nothing'
      ? 'nothing waits'
      : `${blocks === 'writes' ? 'writes wait' : 'reads and writes wait'}`;
  return `${table}: ${waits} while ${work} (${rows.toLocaleString('en-US')} rows, about ${time})`;
}

/** Estimated rows, with those of partitions; undefined if there is no such table. */
async function countRows(client: pg.Pool, table: string): Promise<number | undefined> {
  const { rows } = await client.query<{ rows: string | null }>(
    `select case when to_regclass($1) is not null then (
      select coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
      from pg_class c
      where c.oid = to_regclass($1) or c.oid in (select inhrelid from pg_inherits where inhparent = to_regclass($1))
    ) end as rows`,
    [table],
  );
  const found = rows[0]?.rows;
  return found === null || found === undefined ? undefined : Number(found);
}
