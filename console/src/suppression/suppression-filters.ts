import type { Suppression } from '../api/management.generated.ts';

export type SuppressionReasonCode = Suppression['reason'];

/** Suppression filters, kept in the page URL. */
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

/** Parses filters from the URL and ignores invalid ones. */
export function readSuppressionFilters(
  search: Readonly<Record<string, unknown>>,
): SuppressionFilters {
  // The router parses numbers in URLs, and part of an email address may look like one.
  const contains = typeof search.contains === 'number' ? `${search.contains}` : search.contains;
  const reason = suppressionReasonCodes.find((one) => one === search.reason);
  return {
    ...(typeof contains === 'string' && contains !== '' && { contains }),
    ...(reason !== undefined && { reason }),
  };
}
