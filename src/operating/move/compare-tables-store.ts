import type pg from 'pg';
import { type MoveTable, nameOfKey } from './move-catalog-store.ts';
import type { MoveSession } from './move-session-store.ts';
import { movedValues, storedValues } from './moved-columns-sql.ts';

/** A table with all its partitions, in both databases. */
export interface TableComparison {
  readonly table: string;
  readonly rows: number;
  readonly copied: number;
  /** The last 64 bits in hexadecimal, which change with every row. */
  readonly checksum: string;
  readonly checksumOfCopy: string;
  readonly same: boolean;
}

interface Contents {
  readonly original: TableContents;
  readonly copy: TableContents;
}

const plus = (one: TableContents | undefined, other: TableContents): TableContents => ({
  rows: (one?.rows ?? 0) + other.rows,
  checksum: (one?.checksum ?? 0n) + other.checksum,
});

/** Compares a copy with its source. @param onTable called before each table */
export async function compareTables(
  {
    source,
    target,
    targetSchema,
  }: {
    readonly source: MoveSession;
    readonly target: MoveSession;
    readonly targetSchema: string;
  },
  tables: readonly MoveTable[],
  onTable: (table: string) => void,
): Promise<TableComparison[]> {
  const compared = new Map<string, Contents>();
  for (const table of tables) {
    onTable(table.key);
    const moved = { ...table, sql: nameOfKey(table.key, targetSchema) };
    const [original, copy] = await Promise.all([
      readContents(source, table, movedValues(table)),
      readContents(target, moved, storedValues(table)),
    ]);
    const earlier = compared.get(table.root);
    compared.set(table.root, {
      original: plus(earlier?.original, original),
      copy: plus(earlier?.copy, copy),
    });
  }
  return [...compared].map(([table, { original, copy }]) => ({
    table,
    rows: original.rows,
    copied: copy.rows,
    checksum: formatChecksum(original),
    checksumOfCopy: formatChecksum(copy),
    same: original.rows === copy.rows && original.checksum === copy.checksum,
  }));
}

function formatChecksum({ checksum }: TableContents): string {
  return BigInt.asUintN(64, checksum).toString(16).padStart(16, '0');
}

/** What a table contains, whatever its rows' order. */
interface TableContents {
  readonly rows: number;
  /** The sum of a hash of each row. */
  readonly checksum: bigint;
}

/**
 * Counts a table's rows and adds up their hashes. SHA-256 of the row as text is the same on every server, unlike
 * PostgreSQL's own hash functions. A sum detects missing and duplicate rows, which XOR wouldn't.
 * @param values SQL for the values of its row `t`
 */
async function readContents(
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
