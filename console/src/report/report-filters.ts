import type { ReportGroupOption } from './use-report.ts';

/** The report selection in the page URL; omitted members have their default. */
export interface ReportFilters {
  readonly days?: number;
  readonly group?: ReportGroupOption;
  readonly compare?: boolean;
  readonly templateId?: string;
  /** A locale, or `default` for the templates' own content. */
  readonly locale?: string;
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

/** Groups that can be combined with a filter by template, and by language. */
const filterable: Readonly<Record<ReportGroupOption, { template: boolean; locale: boolean }>> = {
  template: { template: true, locale: true },
  locale: { template: true, locale: true },
  day: { template: true, locale: true },
  hour: { template: true, locale: true },
  none: { template: true, locale: true },
  tag: { template: true, locale: false },
  sender: { template: true, locale: false },
  destination: { template: false, locale: false },
};

/** The filters that the group can be combined with. */
export function applicableFilters(
  { templateId, locale }: ReportFilters,
  group: ReportGroupOption,
): Pick<ReportFilters, 'templateId' | 'locale'> {
  const can = filterable[group];
  return {
    ...(can.template && templateId !== undefined && { templateId }),
    ...(can.locale && locale !== undefined && { locale }),
  };
}

/** Whether a report by this group can be filtered. */
export function canFilter(group: ReportGroupOption, by: 'template' | 'locale'): boolean {
  return filterable[group][by];
}

/** Parses filters from the URL and ignores invalid ones. */
export function readReportFilters(search: Readonly<Record<string, unknown>>): ReportFilters {
  const days = reportDayOptions.find((one) => one === search.days);
  const group = reportGroupOptions.find((one) => one === search.group);
  const textOf = (value: unknown, pattern: RegExp) => {
    const shown = typeof value === 'number' ? String(value) : value;
    return typeof shown === 'string' && pattern.test(shown) ? shown : undefined;
  };
  const templateId = textOf(search.templateId, /^[\w-]{1,64}$/);
  const locale = textOf(search.locale, /^[a-z0-9-]{1,35}$/i);
  return {
    ...(templateId !== undefined && { templateId }),
    ...(locale !== undefined && { locale }),
    ...(days !== undefined && days !== defaultReportFilters.days && { days }),
    ...(group !== undefined && group !== defaultReportFilters.group && { group }),
    ...(search.compare === true && { compare: true }),
  };
}
