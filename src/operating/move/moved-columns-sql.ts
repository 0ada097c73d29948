import pg from 'pg';
import { mapFeedPosition, mapRowTransaction } from '../../outcomes/feed/transaction-map-store.ts';
import type { MoveColumn, MoveTable } from './move-catalog-store.ts';

/** The positions of followers. All other transaction IDs are those of rows. */
const positionTable = 'feed_cursor';

/** Types whose values are meaningful only in the server that assigned them. */
const serverTypes = /^(xid|cid|tid|pg_lsn|pg_snapshot|txid_snapshot|oid|reg\w+)(\[\])?$/;

/**
 * SQL for the values of a table's row `t` as the other database stores them.
 * @throws Error for a type that can't be moved
 */
export function movedValues({ key, columns }: Pick<MoveTable, 'key' | 'columns'>): string[] {
  return columns.map(({ name, type }) => {
    if (serverTypes.test(type)) throw new Error(`${key}.${name} can’t be moved: ${type}`);
    const column = `t.${pg.escapeIdentifier(name)}`;
    if (type !== 'xid8') return column;
    return key === positionTable ? mapFeedPosition(column) : mapRowTransaction(column);
  });
}

/** SQL for the values of a table's row `t` as they are. */
export function storedValues({ columns }: Pick<MoveTable, 'columns'>): string[] {
  return columns.map(({ name }) => `t.${pg.escapeIdentifier(name)}`);
}

/** A table's columns, as in `insert`. */
export function columnList(columns: readonly MoveColumn[]): string {
  return columns.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
}
