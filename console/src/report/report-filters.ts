import type { ReportGroupOption } from './use-report.ts';

/** The report selection in the page URL; omitted members have their default. */
export interface ReportFilters {
  readonly days?: number;
  readonly group?: ReportGroupOption;
  readonly compare?: boolean;
}

export const reportGroupOptions = [
  'template',
  'locale',
  'tag',
  'destination',
  'sender',
  'day',
  'none',
] as const;

export const reportDayOptions = [1, 7, 30, 90] as const;

/** The default report selection. */
export const defaultReportFilters = { days: 30, group: 'template', compare: false } as const;

/** Parses filters from the URL and ignores invalid ones. */
export function readReportFilters(search: Readonly<Record<string, unknown>>): ReportFilters {
  const days = reportDayOptions.find((one) => one === search.days);
  const group = reportGroupOptions.find((one) => one === search.group);
  return {
    ...(days !== undefined && days !== defaultReportFilters.days && { days }),
    ...(group !== undefined && group !== defaultReportFilters.group && { group }),
    ...(search.compare === true && { compare: true }),
  };
}
