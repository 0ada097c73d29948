import { readContents, type TableContents } from './checksum-store.ts';
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
