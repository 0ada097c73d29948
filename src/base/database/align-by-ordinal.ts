/**
 * Orders rows read with `unnest … with ordinality` by their keys.
 * @param rows `n` is the 1-based position of the row's key
 * @param count number of keys
 * @returns one value per key; undefined if there was no row
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
