import { keepPreviousData } from '@tanstack/react-query';
import { useMay } from '../account/use-me.ts';
import { useGet } from '../api/use-get.ts';
import { hourZone } from './plot-points.ts';

/** What report rows can be grouped by. */
export type ReportGroupOption =
  | 'none'
  | 'hour'
  | 'day'
  | 'template'
  | 'locale'
  | 'tag'
  | 'destination'
  | 'sender';

export interface ReportPeriod {
  readonly from: string;
  readonly until: string;
}

interface ComparedPeriods {
  readonly now: ReportPeriod;
  readonly before: ReportPeriod;
  /** `before` up to the current time of day, since today isn't over either. */
  readonly beforeSoFar: ReportPeriod;
}

/** The last days including today in the browser's time zone, and the preceding period of equal length. */
export function lastDays(days: number, now = new Date()): ComparedPeriods {
  const at = (offset: number, hour = 0, minute = 0) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + offset, hour, minute).toISOString();
  const from = at(1 - 2 * days);
  // Reports count by quarter hours, and a period can't be empty.
  const quarter = Math.floor(now.getMinutes() / 15) * 15 + 15;
  return {
    now: { from: at(1 - days), until: at(1) },
    before: { from, until: at(1 - days) },
    beforeSoFar: { from, until: at(-days, now.getHours(), quarter) },
  };
}

interface ReportOptions {
  readonly templateId?: string;
  readonly locale?: string;
  readonly enabled?: boolean;
}

/** Delivery counts by group. */
export function useReport(
  period: ReportPeriod,
  group: ReportGroupOption,
  { enabled = true, ...filters }: ReportOptions = {},
) {
  const may = useMay();
  const timeZone =
    group === 'hour' ? hourZone(period).name : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const query = { ...period, ...filters, group, timeZone };
  return useGet('/accounts/{accountId}/reports', {
    query,
    enabled: enabled && may('reports:read'),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
}
