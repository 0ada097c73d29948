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
  const length = unit === 'day' ? 10 : 13;
  const counts = new Map(rows.map(({ key, counts }) => [key.slice(0, length), counts]));
  const { offset } = hourZone(period);
  const end = new Date(period.until);
  const points: PlotPoint[] = [];
  for (let at = new Date(period.from); at < end; at = next(at, unit)) {
    const key = unit === 'day' ? localDay(at) : isoAt(at.getTime() + offset * 60_000);
    const count = counts.get(key.slice(0, length));
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

/** Time zones without daylight saving time, by the minutes that their hours are off those of UTC. */
const hourZones = [
  { name: 'UTC', offset: 0 },
  { name: 'Asia/Kolkata', offset: 330 },
  { name: 'Asia/Kathmandu', offset: 345 },
] as const;

/**
 * The time zone in which hours are reported. They start when those of the browser do, and have different keys, unlike the two
 * hours of a night when clocks go back.
 */
export function hourZone({ from }: ReportPeriod): (typeof hourZones)[number] {
  const minutes = (60 - new Date(from).getUTCMinutes()) % 60;
  return hourZones.find(({ offset }) => offset % 60 === minutes) ?? hourZones[0];
}

/** Steps by calendar day, because not all days have 24 hours. */
function next(at: Date, unit: 'day' | 'hour'): Date {
  return unit === 'day'
    ? new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1)
    : new Date(at.getTime() + 3_600_000);
}

/** The format of report keys, such as `2026-11-20T09:00`. */
function isoAt(time: number): string {
  return new Date(time).toISOString();
}

function localDay(at: Date): string {
  return isoAt(at.getTime() - at.getTimezoneOffset() * 60_000);
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
