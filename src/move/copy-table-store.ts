import { pipeline } from 'node:stream/promises';
import { type MoveTable, nameOfKey } from './move-catalog-store.ts';
import type { MoveSession } from './move-session-store.ts';
import { columnList, movedValues } from './moved-columns-sql.ts';
import { dropTableKeys } from './table-keys-store.ts';

/** A copy in progress: a transaction with one snapshot of the source, and a session of the target. */
export interface CopySessions {
  readonly source: MoveSession;
  readonly target: MoveSession;
  /** The schema of the installation in the target. */
  readonly targetSchema: string;
  /** About how many bytes a transaction copies, which an interrupted copy repeats. */
  readonly partBytes: number;
}

/** What was written of a table since it began. */
export interface CopiedPart {
  readonly rows: number;
  /** Of the source's size, as a share from 0 to 1. */
  readonly share: number;
}

interface TableProgress {
  readonly nextPage: number;
  readonly rows: number;
  readonly finished: boolean;
}

/** A table with more than this share of a part is written without its indexes. */
const bulkShare = 8;

/**
 * Copies a table's rows in parts. Each part is committed together with the record of how far the table has come, so after any
 * interruption the rest is copied, and nothing twice.
 *
 * A part is a range of pages: reading it needs no index, and every table has pages. Rows keep their pages as long as nothing
 * writes to the source.
 * @param onPart called after each part
 * @returns the rows copied, including those of earlier runs
 */
export async function copyTable(
  sessions: CopySessions,
  table: MoveTable,
  onPart: (part: CopiedPart) => void,
): Promise<number> {
  const { target, partBytes } = sessions;
  let { nextPage, rows, finished } = await readProgress(target, table.key);
  const step = Math.max(1, Math.floor((partBytes * table.pages) / Math.max(1, table.bytes)));
  while (!finished) {
    const untilPage = Math.min(nextPage + step, table.pages);
    finished = untilPage >= table.pages;
    await target.query('begin');
    try {
      if (nextPage === 0 && table.partition === null && table.bytes > partBytes / bulkShare)
        await dropTableKeys(target, sessions.targetSchema, table.key);
      if (untilPage > nextPage) rows += await copyPages(sessions, table, nextPage, untilPage);
      await writeProgress(target, table.key, { nextPage: untilPage, rows, finished });
      await target.query('commit');
    } catch (error) {
      await target.query('rollback').catch(() => undefined);
      throw error;
    }
    nextPage = untilPage;
    onPart({ rows, share: table.pages === 0 ? 1 : nextPage / table.pages });
  }
  return rows;
}

/**
 * In binary, because that is shorter than text for the long columns (attachments, IDs, times), and neither server has to parse
 * anything. Its formats are those of the protocol that every driver uses, so they are the same from PostgreSQL 15 on; the
 * comparison at the end, which is of text, would notice a difference.
 */
async function copyPages(
  { source, target, targetSchema }: CopySessions,
  table: MoveTable,
  fromPage: number,
  untilPage: number,
): Promise<number> {
  const { from, to } = await import('pg-copy-streams');
  const reading = source.query(
    to(`copy (select ${movedValues(table).join(', ')} from only ${table.sql} as t
      where t.ctid >= '(${fromPage},0)' and t.ctid < '(${untilPage},0)') to stdout (format binary)`),
  );
  const writing = target.query(
    from(
      `copy ${nameOfKey(table.key, targetSchema)} (${columnList(table.columns)}) from stdin (format binary)`,
    ),
  );
  await pipeline(reading, writing);
  return writing.rowCount;
}

async function readProgress(target: MoveSession, key: string): Promise<TableProgress> {
  const { rows } = await target.query<TableProgress>(
    `select next_page::float8 as "nextPage", rows_copied::float8 as rows, finished
     from installation_move_progress where table_name = $1`,
    [key],
  );
  return rows[0] ?? { nextPage: 0, rows: 0, finished: false };
}

async function writeProgress(
  target: MoveSession,
  key: string,
  { nextPage, rows, finished }: TableProgress,
): Promise<void> {
  await target.query(
    `insert into installation_move_progress (table_name, next_page, rows_copied, finished) values ($1, $2, $3, $4)
     on conflict (table_name) do update
       set next_page = excluded.next_page, rows_copied = excluded.rows_copied, finished = excluded.finished`,
    [key, nextPage, rows, finished],
  );
}
