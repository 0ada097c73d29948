import { Counter, Gauge, type Registry } from 'prom-client';
import { metricOptions } from '../foundation/metrics/metrics-table.ts';

/** The commands whose replies are counted. */
export type CountedCommand = 'AUTH' | 'MAIL' | 'RCPT' | 'DATA';

/** Metrics of SMTP submission for `/metrics`. What the send operation accepts and refuses is counted there, too. */
export class SmtpSubmissionMetrics {
  readonly #replies: Counter;

  /** @param openSessions returns how many sessions are open */
  constructor(registry: Registry, openSessions: () => number) {
    this.#replies = new Counter(metricOptions('signalpost_submission_replies_total', registry));
    new Gauge({
      ...metricOptions('signalpost_submission_sessions', registry),
      collect() {
        this.set(openSessions());
      },
    });
  }

  /** @param code of the reply (RFC 5321 section 4.2) */
  replied(command: CountedCommand, code: number): void {
    this.#replies.inc({ command, code });
  }
}
