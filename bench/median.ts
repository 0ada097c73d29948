/** The middle one. */
export function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

/** The number below which such a part (0 to 1) of all lies; 0 of none. */
export function percentile(numbers: readonly number[], part: number): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length * part)] ?? 0;
}
