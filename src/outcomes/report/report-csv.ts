import { csvLine } from '../../base/values/csv-line.ts';
import { reportColumns } from '../../content/message/event-kinds.ts';
import type { ReportResultRow } from './read-report-store.ts';
import type { ReportGrouping } from './report-query.ts';

/** The columns of times; `links_used` says of how many the last is. */
const times = ['p50_ms', 'p95_ms', 'p99_ms', 'links_used', 'link_wait_p50_ms'];

/** A report as CSV (RFC 4180) with a header line. Times to delivery are in milliseconds. */
export function reportCsv(group: ReportGrouping, rows: readonly ReportResultRow[]): string {
  const lines = rows.map(({ key, counts, latency, linkWait }) =>
    csvLine([
      key,
      ...reportColumns.map((name) => counts[name]),
      latency?.p50 ?? null,
      latency?.p95 ?? null,
      latency?.p99 ?? null,
      linkWait?.count ?? null,
      linkWait?.p50 ?? null,
    ]),
  );
  return csvLine([group, ...reportColumns, ...times]) + lines.join('');
}
