import { Counter, type Registry } from 'prom-client';
import { metricOptions } from '../base/telemetry/metrics-table.ts';
import type { FeedbackEvent } from './bounce/feedback-event-store.ts';
import { type CountReply, replyResults } from './reply/reply-refusal.ts';

const kinds: readonly FeedbackEvent['kind'][] = [
  'bounced',
  'complained',
  'delayed',
  'unsubscribed',
];

/** As events name them. */
const reporters = ['mail', 'Amazon SES', 'Postmark', 'Mailgun', 'SendGrid'];

/**
 * Registers the metrics of feedback.
 * @returns callbacks for received reports and replies
 */
export function registerFeedbackMetrics(registry: Registry): {
  readonly countReports: (events: readonly FeedbackEvent[]) => void;
  /** @param by who reports: a relay, or `mail` */
  readonly countUnmatched: (by: string) => void;
  readonly countReply: CountReply;
} {
  const reports = new Counter(metricOptions('signalpost_feedback_reports_total', registry));
  for (const kind of kinds) reports.inc({ kind }, 0);
  const unmatched = new Counter(metricOptions('signalpost_unmatched_reports_total', registry));
  for (const by of reporters) unmatched.inc({ by }, 0);
  const replies = new Counter(metricOptions('signalpost_replies_total', registry));
  for (const result of replyResults) replies.inc({ result }, 0);
  const replyBytes = new Counter(metricOptions('signalpost_reply_bytes_total', registry));
  return {
    countReports(events) {
      for (const { kind } of events) reports.inc({ kind });
    },
    countUnmatched(by) {
      unmatched.inc({ by });
    },
    countReply(result, bytes = 0) {
      replies.inc({ result });
      replyBytes.inc(bytes);
    },
  };
}
