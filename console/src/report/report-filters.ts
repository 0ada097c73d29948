import type { ReportGroupOption } from './use-report.ts';

/** What a report shows, as it stands in the address of the page; what is left out is as reports begin. */
export interface ReportFilters {
  readonly days?: number;
  readonly group?: ReportGroupOption;
  readonly compare?: boolean;
}

export const reportGroupOptions = [
  'template',
  'tag',
  'destination',
  'sender',
  'day',
  'none',
] as const;

export const reportDayOptions = [1, 7, 30, 90] as const;

/** How reports begin. */
export const defaultReportFilters = { days: 30, group: 'template', compare: false } as const;

/** Whatever stands in an address, only what can be a filter is taken. */
export function readReportFilters(search: Readonly<Record<string, unknown>>): ReportFilters {
  const days = reportDayOptions.find((one) => one === search.days);
  const group = reportGroupOptions.find((one) => one === search.group);
  return {
    ...(days !== undefined && days !== defaultReportFilters.days && { days }),
    ...(group !== undefined && group !== defaultReportFilters.group && { group }),
    ...(search.compare === true && { compare: true }),
  };
}
