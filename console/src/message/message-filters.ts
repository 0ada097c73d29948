import { shownStates } from './message-states.ts';

/** Filters of the message log, kept in the page URL. */
export interface MessageFilters {
  readonly state?: string;
  readonly templateId?: string;
  readonly recipient?: string;
  readonly tag?: string;
  /** `de` includes `de-AT`. */
  readonly locale?: string;
  readonly externalId?: string;
  /** `name=value` */
  readonly attribute?: string;
  /** A key of `messagePeriods`. */
  readonly period?: string;
}

/** Hours of each period. */
export const messagePeriods = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 } as const;

const names = [
  'state',
  'templateId',
  'recipient',
  'tag',
  'locale',
  'externalId',
  'attribute',
  'period',
] as const;

/** Parses filters from the URL and ignores invalid ones. */
export function readMessageFilters(search: Readonly<Record<string, unknown>>): MessageFilters {
  const filters: Record<string, string> = {};
  for (const name of names) {
    const value = search[name];
    // The router parses numbers in URLs, and an external id may look like one.
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text === 'string' && text !== '') filters[name] = text;
  }
  if (filters.state !== undefined && !(shownStates as readonly string[]).includes(filters.state))
    delete filters.state;
  if (filters.period !== undefined && !Object.hasOwn(messagePeriods, filters.period))
    delete filters.period;
  return filters;
}

/** The start of a period, rounded to the minute so the query key is stable. */
export function periodStart(period: string | undefined, now = Date.now()): string | undefined {
  const hours = messagePeriods[period as keyof typeof messagePeriods] as number | undefined;
  if (hours === undefined) return undefined;
  const minute = 60_000;
  return new Date(Math.floor((now - hours * 3_600_000) / minute) * minute).toISOString();
}
