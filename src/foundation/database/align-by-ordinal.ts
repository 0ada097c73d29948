/**
 * Puts rows that were read by keys with ordinality into the places of their keys.
 * @param rows `n` is the place of a row's key, counted from 1
 * @param count keys that were asked for
 * @returns one value for each key; undefined where there was no row
 */
export function alignByOrdinal<Row extends { readonly n: number }, Value>(
  rows: readonly Row[],
  count: number,
  toValue: (row: Row) => Value,
): (Value | undefined)[] {
  const values = new Array<Value | undefined>(count).fill(undefined);
  for (const row of rows) values[row.n - 1] = toValue(row);
  return values;
}
