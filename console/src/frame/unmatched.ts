/**
 * Which entries of the first list have no partner in the second, where partners are equal and stand in the same order in
 * both (a longest common subsequence).
 */
export function unmatched(first: readonly string[], second: readonly string[]): boolean[] {
  const width = second.length + 1;
  // How long the longest common subsequence of the rests from (row, column) on is.
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
