import type { Suppression } from '../api/management.generated.ts';

export type SuppressionReasonCode = Suppression['reason'];

/** Filters of the suppressions, as they stand in the address of the page. */
export interface SuppressionFilters {
  readonly contains?: string;
  readonly reason?: SuppressionReasonCode;
}

export const suppressionReasonCodes: readonly SuppressionReasonCode[] = [
  'hard_bounce',
  'complaint',
  'unsubscribe',
  'manual',
];

/** Whatever stands in an address, only what can be a filter is taken. */
export function readSuppressionFilters(
  search: Readonly<Record<string, unknown>>,
): SuppressionFilters {
  // The router reads numbers from addresses; a part of an e-mail address may look like one.
  const contains = typeof search.contains === 'number' ? `${search.contains}` : search.contains;
  const reason = suppressionReasonCodes.find((one) => one === search.reason);
  return {
    ...(typeof contains === 'string' && contains !== '' && { contains }),
    ...(reason !== undefined && { reason }),
  };
}
