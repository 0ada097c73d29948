import type { ReportCounts } from '../api/management.generated.ts';
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
