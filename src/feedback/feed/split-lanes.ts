/** One half of lanes, which are bits; 0 for a single lane. */
export function halfOf(lanes: number): number {
  const all = [...bitsOf(lanes)];
  return sum(all.slice(0, Math.floor(all.length / 2)));
}

/**
 * The lanes that get separate windows, after full ones: the one that most rows belong to, so that the others don't wait for
 * it, otherwise about half of the rows if another process can take them.
 * @param rows of each lane in the last window
 * @returns 0 for none
 */
export function lanesToSplit(
  lanes: number,
  rows: ReadonlyMap<number, number>,
  isProcessFree: boolean,
): number {
  const byRows = [...bitsOf(lanes)].sort((a, b) => (rows.get(b) ?? 0) - (rows.get(a) ?? 0));
  const total = sum(rows.values());
  const [largest = 0] = byRows;
  if (byRows.length > 1 && (rows.get(largest) ?? 0) * 2 > total) return largest;
  if (!isProcessFree) return 0;
  // Every second one in this order has a little less than half of the rows.
  return sum(byRows.filter((_, index) => index % 2 === 1));
}

function* bitsOf(lanes: number): Generator<number> {
  for (let bit = 1; bit <= lanes; bit *= 2) if ((lanes & bit) !== 0) yield bit;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
