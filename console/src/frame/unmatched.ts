/**
 * Indexes in the first list that aren't part of a longest common subsequence with the second.
 */
export function unmatched(first: readonly string[], second: readonly string[]): boolean[] {
  const width = second.length + 1;
  // Length of the longest common subsequence of the suffixes that start at (row, column).
  const rest = new Uint16Array((first.length + 1) * width);
  const at = (row: number, column: number) => rest[row * width + column] ?? 0;
  for (let row = first.length - 1; row >= 0; row -= 1)
    for (let column = second.length - 1; column >= 0; column -= 1)
      rest[row * width + column] =
        first[row] === second[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const found = first.map(() => true);
  for (let row = 0, column = 0; row < first.length && column < second.length; ) {
    if (first[row] === second[column]) {
      found[row] = false;
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return found;
}
