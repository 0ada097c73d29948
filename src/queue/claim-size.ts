/**
 * Claim sizes, written into the statement as constants. With an unknown limit, PostgreSQL's planner assumes a tenth of
 * the table and reads and sorts all of it.
 */
export const claimSizes = [64, 32, 16, 8, 4, 2, 1] as const;

export type ClaimSize = (typeof claimSizes)[number];

/** Largest claim size that fits into the free slots. */
export function claimSize(max: number): ClaimSize {
  return claimSizes.find((size) => size <= max) ?? 1;
}
