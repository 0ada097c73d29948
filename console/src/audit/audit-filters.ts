import type { paths } from '../api/management.generated.ts';

type AuditQuery = NonNullable<paths['/accounts/{accountId}/audit']['get']['parameters']['query']>;

export type FilteredThing = NonNullable<AuditQuery['thing']>;

/** Filters of the audit log, kept in the page URL. */
export interface AuditFilters {
  readonly search?: string;
  /** Email of the person. */
  readonly person?: string;
  readonly thing?: FilteredThing;
  /** Until now. */
  readonly period?: AuditPeriod;
  /** First and last day in the browser's time zone, such as `2026-11-20`. */
  readonly from?: string;
  readonly until?: string;
}

/** In display order. */
const things: Readonly<Record<FilteredThing, true>> = {
  template: true,
  message: true,
  sender: true,
  domain: true,
  key: true,
  integration: true,
  webhook: true,
  list: true,
  suppression: true,
  user: true,
  access: true,
  account: true,
  privacy: true,
};

export const shownThings = Object.keys(things) as FilteredThing[];

type AuditPeriod = keyof typeof auditPeriods;

/** Periods until now to choose from, in hours. */
export const auditPeriods = { '24h': 24, '7d': 168, '30d': 720 } as const;

const day = /^\d{4}-\d\d-\d\d$/;

/** Parses filters from the URL and ignores invalid ones. */
export function readAuditFilters(search: Readonly<Record<string, unknown>>): AuditFilters {
  const thing = shownThings.find((one) => one === search.thing);
  const textOf = (value: unknown) => (typeof value === 'number' ? String(value) : value);
  const found: Record<string, string> = {};
  for (const name of ['search', 'person'] as const) {
    const value = textOf(search[name]);
    if (typeof value === 'string' && value !== '') found[name] = value;
  }
  for (const name of ['from', 'until'] as const) {
    const value = search[name];
    if (typeof value === 'string' && day.test(value)) found[name] = value;
  }
  const period = Object.keys(auditPeriods).find((one) => one === search.period);
  return {
    ...found,
    ...(thing !== undefined && { thing }),
    ...(period !== undefined && { period: period as AuditPeriod }),
  };
}

/** The query of the API. */
export function auditQuery(filters: AuditFilters): AuditQuery {
  const { person, period, from, until, ...rest } = filters;
  return {
    ...rest,
    ...(person !== undefined && { email: person }),
    ...(period !== undefined && {
      from: new Date(Date.now() - auditPeriods[period] * 3_600_000).toISOString(),
    }),
    ...(from !== undefined && startOf(from, 0)),
    ...(until !== undefined && endOf(until)),
  };
}

function startOf(value: string, days: number): { from?: string } {
  const time = timeOf(value, days);
  return time === undefined ? {} : { from: time };
}

/** The last day belongs to the period. */
function endOf(value: string): { until?: string } {
  const time = timeOf(value, 1);
  return time === undefined ? {} : { until: time };
}

function timeOf(value: string, days: number): string | undefined {
  const [year = 0, month = 0, date = 0] = value.split('-').map(Number);
  const time = new Date(year, month - 1, date + days);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
