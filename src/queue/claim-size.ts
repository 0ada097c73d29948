/**
 * Numbers of messages that one claim may ask for. They stand in the statement as constants: of a limit that it does not
 * know, PostgreSQL's planner expects a tenth of the table, and reads and sorts all of it.
 */
const claimSizes = [64, 32, 16, 8, 4, 2, 1] as const;

/** How many messages are claimed where there is room for so many. */
export function claimSize(max: number): number {
  return claimSizes.find((size) => size <= max) ?? 1;
}
