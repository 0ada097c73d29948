import type pg from 'pg';
import type { MoveTable } from './move-catalog-store.ts';

/** What a table contains, whatever its rows' order. */
export interface TableContents {
  readonly rows: number;
  /** The sum of a hash of each row. */
  readonly checksum: bigint;
}

/** Settings that change how values are written as text. */
export const textSettings =
  '-c datestyle=ISO,YMD -c intervalstyle=postgres -c timezone=UTC -c bytea_output=hex -c extra_float_digits=1';

/**
 * Counts a table's rows and adds up their hashes. SHA-256 of the row as text is the same on every server, unlike
 * PostgreSQL's own hash functions. A sum detects missing and duplicate rows, which XOR wouldn't.
 * @param values SQL for the values of its row `t`
 */
export async function readContents(
  client: pg.ClientBase,
  table: Pick<MoveTable, 'sql' | 'columns'>,
  values: readonly string[],
): Promise<TableContents> {
  // Long values are hashed one by one, so that no row is written as one huge text.
  const parts = values.map((value, index) =>
    table.columns[index]?.type === 'bytea' ? `sha256(${value})` : value,
  );
  const hash = `sha256(convert_to(row(${parts.join(', ')})::text, 'UTF8'))`;
  const { rows } = await client.query<{ rows: number; checksum: string }>(
    `select count(*)::float8 as rows,
       coalesce(sum(('x' || encode(substr(${hash}, 1, 8), 'hex'))::bit(64)::bigint), 0)::text as checksum
     from only ${table.sql} as t`,
  );
  return { rows: rows[0]?.rows ?? 0, checksum: BigInt(rows[0]?.checksum ?? 0) };
}
