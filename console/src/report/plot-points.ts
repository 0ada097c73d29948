import type { ReportRow } from '../api/management.generated.ts';
import { figureOf } from './report-figures.ts';
import type { ReportPeriod } from './use-report.ts';

/** What became of the messages of one day or one hour. */
export interface PlotPoint {
  /** Begin of the day or hour in the person's zone. */
  readonly at: Date;
  readonly delivered: number;
  readonly bounced: number;
  /** Accepted and neither delivered nor bounced. */
  readonly open: number;
  readonly opened: number;
}

/** The rows of a report by day or hour, with those in which nothing was sent: gaps in time are seen as gaps. */
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
    const delivered = figureOf('delivered', count);
    const bounced = figureOf('bounced', count);
    points.push({
      at,
      delivered,
      bounced,
      open: Math.max(figureOf('accepted', count) - delivered - bounced, 0),
      opened: figureOf('opened', count),
    });
  }
  return points;
}

/** Days are not all 24 hours long, so they are counted by the calendar. */
function next(at: Date, unit: 'day' | 'hour'): Date {
  return unit === 'day'
    ? new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1)
    : new Date(at.getTime() + 3_600_000);
}

/** As the keys of reports are written, such as `2026-11-20T09`. */
function localKey(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}`;
}

/** What the steps of an axis may be, times a power of ten: round numbers, close enough to leave little of a plot empty. */
const roundSteps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The top of an axis of four whole and round steps that reaches the value. */
export function niceAxisMax(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value / 4));
  const steps = roundSteps.map((one) => one * power).filter(Number.isInteger);
  return (steps.find((step) => step * 4 >= value) ?? 10 * power) * 4;
}
