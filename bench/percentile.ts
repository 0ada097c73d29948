export function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

/** @param share 0 to 1. @returns 0 if there are no numbers */
export function percentile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? 0;
}
