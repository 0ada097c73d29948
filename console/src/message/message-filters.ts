import type { MessageLine } from '../api/management.generated.ts';
import { shownStates } from './message-states.ts';

/** Filters of the message log, kept in the page URL. */
export interface MessageFilters {
  /** Anything that the service finds messages by. */
  readonly search?: string;
  readonly state?: string;
  /** `live` or `test` */
  readonly mode?: string;
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

/** The modes of the keys that messages were sent with. */
export const messageModes = ['live', 'test'] as const;

const names = [
  'search',
  'state',
  'mode',
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
  if (filters.mode !== undefined && !(messageModes as readonly string[]).includes(filters.mode))
    delete filters.mode;
  if (filters.period !== undefined && !Object.hasOwn(messagePeriods, filters.period))
    delete filters.period;
  return filters;
}

/** Filters that are chosen from what is typed into the search box, and shown as chips. */
export const narrowFilters = [
  'recipient',
  'templateId',
  'tag',
  'locale',
  'externalId',
  'attribute',
] as const;

export type NarrowFilter = (typeof narrowFilters)[number];

/** The filters that a text can be a value of. */
export function narrowFiltersFor(text: string): NarrowFilter[] {
  return narrowFilters.filter((name) => valuePatterns[name].test(text));
}

const valuePatterns: Readonly<Record<NarrowFilter, RegExp>> = {
  recipient: /^\S+$/,
  templateId: /^[\w-]{1,64}$/,
  tag: /^.{1,48}$/,
  locale: /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i,
  externalId: /^.{1,128}$/,
  attribute: /^[^=]+=/,
};

/** The query of the API; the period becomes a time. */
export function messageQuery({ period, state, mode, ...rest }: MessageFilters) {
  return {
    ...rest,
    state: state as MessageLine['state'] | undefined,
    mode: mode as (typeof messageModes)[number] | undefined,
    from: periodStart(period),
  };
}

/** The start of a period, rounded to the minute. */
function periodStart(period: string | undefined, now = Date.now()): string | undefined {
  const hours = messagePeriods[period as keyof typeof messagePeriods] as number | undefined;
  if (hours === undefined) return undefined;
  const minute = 60_000;
  return new Date(Math.floor((now - hours * 3_600_000) / minute) * minute).toISOString();
}
