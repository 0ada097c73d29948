import type { WebhookDelivery } from '../api/management.generated.ts';

export type FilteredState = WebhookDelivery['state'];

export const deliveryStates: readonly FilteredState[] = ['delivered', 'pending', 'failed'];

/** The shown part of a webhook's log and the selected event, kept in the page URL. */
export interface WebhookFilters {
  readonly state?: FilteredState;
  readonly event?: string;
}

/** Parses filters from the URL and ignores invalid ones. */
export function readWebhookFilters(search: Readonly<Record<string, unknown>>): WebhookFilters {
  const state = deliveryStates.find((one) => one === search.state);
  const { event } = search;
  return {
    ...(state !== undefined && { state }),
    ...(typeof event === 'string' && /^[0-9a-f-]{36}$/.test(event) && { event }),
  };
}
