import type { ReportRow } from '../api/management.generated.ts';
import { figureOf } from './report-figures.ts';
import type { ReportPeriod } from './use-report.ts';

/** Delivery counts of a day or hour. */
export interface PlotPoint {
  /** Start of the day or hour in the browser's time zone. */
  readonly at: Date;
  readonly delivered: number;
  readonly bounced: number;
  /** Accepted and neither delivered nor bounced. */
  readonly open: number;
  readonly opened: number;
}

/** Report rows by day or hour, including empty ones, so gaps are visible. */
export function plotPoints(
  rows: readonly ReportRow[],
  period: ReportPeriod,
  unit: 'day' | 'hour',
): PlotPoint[] {
  const counts = new Map(
    rows.map(({ key, counts }) => [key.slice(0, unit === 'day' ? 10 : 13), counts]),
  );
  const end = new Date(period.until);
  const points: PlotPoint[] = [];
  for (let at = new Date(period.from); at < end; at = next(at, unit)) {
    const count = counts.get(localKey(at).slice(0, unit === 'day' ? 10 : 13));
    points.push({
      at,
      delivered: figureOf('delivered', count),
      bounced: figureOf('bounced', count),
      open: figureOf('open', count),
      opened: figureOf('opened', count),
    });
  }
  return points;
}

/** Steps by calendar day, because not all days have 24 hours. */
function next(at: Date, unit: 'day' | 'hour'): Date {
  return unit === 'day'
    ? new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1)
    : new Date(at.getTime() + 3_600_000);
}

/** The format of report keys, such as `2026-11-20T09`. */
function localKey(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}`;
}

/** Axis steps, times a power of ten: round numbers, close enough to leave little empty space. */
const roundSteps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The upper end of an axis with four round integer steps that includes the value. */
export function niceAxisMax(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value / 4));
  const steps = roundSteps.map((one) => one * power).filter(Number.isInteger);
  return (steps.find((step) => step * 4 >= value) ?? 10 * power) * 4;
}
