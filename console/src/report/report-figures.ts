import type { ReportCounts } from '../api/management.generated.ts';
import { formatNumber, formatPercent, formatShare } from '../format/format-number.ts';
import { formatterOf } from '../format/formats.ts';
import { text } from '../texts/text.ts';

/** A figure of a report shown in the console. */
export type ReportFigure =
  | 'accepted'
  | 'delivered'
  | 'bounced'
  | 'opened'
  | 'clicked'
  | 'complained'
  /** Accepted, and neither delivered, bounced nor canceled. */
  | 'open';

/** The figure that each count is part of; null: only in the CSV export. */
const figures: Readonly<Record<keyof ReportCounts, ReportFigure | null>> = {
  accepted: 'accepted',
  delivered: 'delivered',
  bounced_hard: 'bounced',
  bounced_soft: 'bounced',
  deferred: null,
  expired: null,
  failed: null,
  uncertain: null,
  canceled: null,
  complained: 'complained',
  unsubscribed: null,
  opened_people: null,
  opened_people_unique: 'opened',
  opened_machines: null,
  opened_machines_unique: null,
  clicked_people: null,
  clicked_people_unique: 'clicked',
  clicked_machines: null,
  clicked_machines_unique: null,
};

const names = Object.keys(figures) as (keyof ReportCounts)[];

/** A figure of a report; zero without counts. */
export function figureOf(figure: ReportFigure, counts: ReportCounts | undefined): number {
  if (counts === undefined) return 0;
  if (figure === 'open')
    return Math.max(
      counts.accepted -
        figureOf('delivered', counts) -
        figureOf('bounced', counts) -
        counts.canceled,
      0,
    );
  return names
    .filter((name) => figures[name] === figure)
    .reduce((sum, name) => sum + counts[name], 0);
}

/** @param capturing from `useCapturing`: mail ends in the inbox of the installation */
export function titleOf(figure: ReportFigure, capturing: boolean): string {
  return text(capturing && figure === 'delivered' ? 'state.captured' : `reports.${figure}`);
}

const points = formatterOf((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }));

/** How a figure differs from that of the period before. */
export interface FigureChange {
  readonly difference: number;
  /** For its absolute value. */
  readonly format: (value: number) => string;
  readonly before: string;
  readonly better?: 'more' | 'less' | undefined;
}

/** Which way a figure gets better; more messages are neither good nor bad. */
const betterWhen: Readonly<Record<ReportFigure, 'more' | 'less' | undefined>> = {
  accepted: undefined,
  delivered: 'more',
  bounced: 'less',
  open: 'less',
  opened: 'more',
  clicked: 'more',
  complained: 'less',
};

/**
 * Messages change by percent, and shares of them by percentage points. @returns undefined if there is nothing to compare
 * or to compare with
 */
export function changeOf(
  figure: ReportFigure,
  now: ReportCounts | undefined,
  before: ReportCounts | undefined,
): FigureChange | undefined {
  if (now === undefined || before === undefined || before.accepted === 0) return undefined;
  const [count, earlier] = [figureOf(figure, now), figureOf(figure, before)];
  if (figure === 'accepted')
    return {
      difference: count / earlier - 1,
      format: formatPercent,
      before: formatNumber(earlier),
    };
  if (now.accepted === 0) return undefined;
  return {
    difference: count / now.accepted - earlier / before.accepted,
    format: (share) => text('reports.points', { points: points().format(share * 100) }),
    before: formatShare(earlier, before.accepted),
    better: betterWhen[figure],
  };
}
