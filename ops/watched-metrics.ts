import { delayResolutionMs, type MetricName } from '../src/base/telemetry/metrics-table.ts';

/** A graph of the dashboard. */
export interface MetricPanel {
  readonly title: string;
  /** A unit of Grafana. */
  readonly unit: 'short' | 's' | 'bytes' | 'reqps' | 'percentunit' | 'dateTimeFromNow';
  readonly queries: readonly { readonly query: string; readonly legend: string }[];
}

/** A rule of `ops/alerts.yaml`. */
export interface MetricAlert {
  readonly name: `Signalpost${string}`;
  readonly query: string;
  /** How long the query must have a result; `0m` fires at once. */
  readonly duration: `${number}m`;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  /** What to do next. */
  readonly action: string;
  /** The page and heading that help. */
  readonly docs: `docs/${string}.md#${string}`;
}

/** What is shown and watched of a metric. */
export interface WatchedMetric {
  readonly panels?: readonly MetricPanel[];
  readonly alerts?: readonly MetricAlert[];
}

/**
 * Graphs and alerts of metrics. `npm run generated` writes `ops/grafana`, `ops/alerts.yaml` and a table of
 * docs/operate/monitor.md from it. Queries keep the label `job`, so that one Prometheus can watch several installations.
 */
export const watchedMetrics: Readonly<Partial<Record<MetricName, WatchedMetric>>> = {
  signalpost_send_accepted_total: {
    panels: [
      {
        title: 'Sends',
        unit: 'reqps',
        queries: [
          {
            query: 'sum by (job) (rate(signalpost_send_accepted_total[5m]))',
            legend: 'accepted',
          },
          {
            query: 'sum by (job, error) (rate(signalpost_send_refused_total[5m]))',
            legend: '{{error}}',
          },
        ],
      },
    ],
  },
  signalpost_send_refused_total: {
    alerts: [
      {
        name: 'SignalpostSendErrors',
        query:
          'sum by (job, error) (increase(signalpost_send_refused_total{error=~"IO_EXCEPTION|INTERNAL_ERROR"}[5m])) > 0',
        duration: '2m',
        severity: 'critical',
        summary: 'Sends fail because of an error of the service.',
        action: 'Search the log for errors, and check the database and the disk.',
        docs: 'docs/operate/troubleshoot.md#rejected-requests',
      },
      {
        name: 'SignalpostSendsRefused',
        query:
          'sum by (job) (increase(signalpost_send_refused_total[15m])) > 20 and sum by (job) (rate(signalpost_send_refused_total[15m])) / (sum by (job) (rate(signalpost_send_refused_total[15m])) + sum by (job) (rate(signalpost_send_accepted_total[15m]))) > 0.2',
        duration: '15m',
        severity: 'warning',
        summary: 'More than 20% of sends are rejected.',
        action: 'See which error grows, and fix the program or template that causes it.',
        docs: 'docs/operate/troubleshoot.md#rejected-requests',
      },
    ],
  },
  signalpost_send_accept_seconds: {
    panels: [
      {
        title: 'Time to accept a send',
        unit: 's',
        queries: [
          {
            query:
              'histogram_quantile(0.5, sum by (job, le) (rate(signalpost_send_accept_seconds_bucket[5m])))',
            legend: 'median',
          },
          {
            query:
              'histogram_quantile(0.99, sum by (job, le) (rate(signalpost_send_accept_seconds_bucket[5m])))',
            legend: 'p99',
          },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostAcceptSlow',
        query:
          'histogram_quantile(0.99, sum by (job, le) (rate(signalpost_send_accept_seconds_bucket[5m]))) > 1',
        duration: '10m',
        severity: 'warning',
        summary: 'Accepting a send takes more than a second (p99).',
        action: 'Check the load of the database and of the nodes.',
        docs: 'docs/operate/scale.md#size-postgresql',
      },
    ],
  },
  signalpost_send_waiting: {
    panels: [
      {
        title: 'Requests waiting for a commit',
        unit: 'short',
        queries: [{ query: 'signalpost_send_waiting', legend: '{{instance}}' }],
      },
    ],
  },
  signalpost_submission_sessions: {
    panels: [
      {
        title: 'SMTP sessions',
        unit: 'short',
        queries: [{ query: 'signalpost_submission_sessions', legend: '{{instance}}' }],
      },
    ],
  },
  signalpost_submission_replies_total: {
    panels: [
      {
        title: 'SMTP replies',
        unit: 'reqps',
        queries: [
          {
            query:
              'sum by (job, command, code) (rate(signalpost_submission_replies_total{command="DATA"}[5m]))',
            legend: '{{command}} {{code}}',
          },
          {
            query:
              'sum by (job, command, code) (rate(signalpost_submission_replies_total{command!="DATA", code=~"[45].*"}[5m]))',
            legend: '{{command}} {{code}}',
          },
        ],
      },
    ],
  },
  signalpost_queue_oldest_due_seconds: {
    panels: [
      {
        title: 'Wait of the oldest due message',
        unit: 's',
        queries: [
          { query: 'max by (job) (signalpost_queue_oldest_due_seconds)', legend: 'oldest' },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostQueueLate',
        query: 'max by (job) (signalpost_queue_oldest_due_seconds) > 60',
        duration: '5m',
        severity: 'warning',
        summary: 'The oldest due message has waited for more than a minute.',
        action: 'Check that workers are busy, and add some if all are.',
        docs: 'docs/operate/troubleshoot.md#missing-messages',
      },
      {
        name: 'SignalpostQueueStuck',
        query: 'max by (job) (signalpost_queue_oldest_due_seconds) > 900',
        duration: '5m',
        severity: 'critical',
        summary: 'The oldest due message has waited for more than 15 minutes.',
        action: 'Check that a node with the role worker runs, and search its log for errors.',
        docs: 'docs/operate/troubleshoot.md#missing-messages',
      },
    ],
  },
  signalpost_queue_entries: {
    panels: [
      {
        title: 'Deliveries in the queue',
        unit: 'short',
        queries: [{ query: 'max by (job) (signalpost_queue_entries)', legend: 'deliveries' }],
      },
    ],
  },
  signalpost_worker_busy: {
    panels: [
      {
        title: 'Messages being sent',
        unit: 'short',
        queries: [{ query: 'signalpost_worker_busy', legend: '{{instance}}' }],
      },
    ],
  },
  signalpost_delivery_outcomes_total: {
    panels: [
      {
        title: 'Outcomes',
        unit: 'reqps',
        queries: [
          {
            query: 'sum by (job, outcome) (rate(signalpost_delivery_outcomes_total[5m]))',
            legend: '{{outcome}}',
          },
        ],
      },
      {
        title: 'Delivered share of attempts by receiver',
        unit: 'percentunit',
        queries: [
          {
            query:
              'sum by (job, receiver) (rate(signalpost_delivery_outcomes_total{outcome="delivered"}[5m])) / (sum by (job, receiver) (rate(signalpost_delivery_outcomes_total{receiver!="none"}[5m])) > 0)',
            legend: '{{receiver}}',
          },
        ],
      },
      {
        title: 'Bounced share of final outcomes by receiver',
        unit: 'percentunit',
        queries: [
          {
            query:
              'sum by (job, receiver) (rate(signalpost_delivery_outcomes_total{outcome="bounced"}[5m])) / (sum by (job, receiver) (rate(signalpost_delivery_outcomes_total{outcome=~"bounced|delivered"}[5m])) > 0)',
            legend: '{{receiver}}',
          },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostSendingFails',
        query:
          'sum by (job) (increase(signalpost_delivery_outcomes_total{outcome="failed"}[15m])) > 0',
        duration: '0m',
        severity: 'critical',
        summary: 'Messages fail because of an error of the service. They are kept.',
        action: 'Find the cause in the messages’ reason and the log, then retry them.',
        docs: 'docs/operate/troubleshoot.md#missing-messages',
      },
      {
        name: 'SignalpostOutcomesUncertain',
        query:
          'sum by (job) (increase(signalpost_delivery_outcomes_total{outcome="uncertain"}[1h])) > 5',
        duration: '0m',
        severity: 'warning',
        summary: 'Several messages may have been sent twice or not at all.',
        action: 'Check the network between the workers and the receiving servers or the relay.',
        docs: 'docs/how-it-works/reliability.md#uncertain-messages',
      },
      {
        name: 'SignalpostReceiverDefers',
        query:
          'sum by (job, receiver) (increase(signalpost_delivery_outcomes_total{outcome="deferred",receiver!~"none|simulator"}[30m])) > 20 and sum by (job, receiver) (rate(signalpost_delivery_outcomes_total{outcome="deferred"}[30m])) / sum by (job, receiver) (rate(signalpost_delivery_outcomes_total{receiver!="none"}[30m])) > 0.5',
        duration: '15m',
        severity: 'warning',
        summary:
          'More than half of the attempts to deliver to {{ $labels.receiver }} are deferred.',
        action: 'Read the replies of the receiving server in the messages’ events.',
        docs: 'docs/operate/troubleshoot.md#missing-messages',
      },
      {
        name: 'SignalpostBouncesHigh',
        query:
          'sum by (job, receiver) (increase(signalpost_delivery_outcomes_total{outcome="bounced",receiver!~"none|simulator"}[1h])) > 20 and sum by (job, receiver) (rate(signalpost_delivery_outcomes_total{outcome="bounced"}[1h])) / sum by (job, receiver) (rate(signalpost_delivery_outcomes_total{outcome=~"bounced|delivered"}[1h])) > 0.05',
        duration: '15m',
        severity: 'warning',
        summary: 'More than 5% of the messages to {{ $labels.receiver }} bounce.',
        action: 'Find the account and the cause in its reports, and stop sending to bad addresses.',
        docs: 'docs/operate/troubleshoot.md#missing-messages',
      },
    ],
  },
  signalpost_delivery_latency_seconds: {
    panels: [
      {
        title: 'Time to deliver',
        unit: 's',
        queries: [
          {
            query:
              'histogram_quantile(0.5, sum by (job, le) (rate(signalpost_delivery_latency_seconds_bucket[5m])))',
            legend: 'median',
          },
          {
            query:
              'histogram_quantile(0.95, sum by (job, le) (rate(signalpost_delivery_latency_seconds_bucket[5m])))',
            legend: 'p95',
          },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostDeliverySlow',
        query:
          'histogram_quantile(0.95, sum by (job, le) (rate(signalpost_delivery_latency_seconds_bucket[15m]))) > 300',
        duration: '15m',
        severity: 'warning',
        summary: 'Delivery takes more than 5 minutes (p95).',
        action: 'See whether messages wait in the queue or a receiver defers them.',
        docs: 'docs/operate/troubleshoot.md#missing-messages',
      },
    ],
  },
  signalpost_feedback_reports_total: {
    panels: [
      {
        title: 'Reports after delivery',
        unit: 'reqps',
        queries: [
          {
            query: 'sum by (job, kind) (rate(signalpost_feedback_reports_total[5m]))',
            legend: '{{kind}}',
          },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostComplaintsHigh',
        query:
          'sum by (job) (increase(signalpost_feedback_reports_total{kind="complained"}[1d])) > 3 and sum by (job) (increase(signalpost_feedback_reports_total{kind="complained"}[1d])) / sum by (job) (increase(signalpost_delivery_outcomes_total{outcome="delivered"}[1d])) > 0.001',
        duration: '15m',
        severity: 'warning',
        summary: 'More than 0.1% of the delivered messages are reported as spam.',
        action: 'Find the account in the reports, and suspend it if its mail is unwanted.',
        docs: 'docs/operate/monitor.md#needs-attention',
      },
    ],
  },
  signalpost_unmatched_reports_total: {
    panels: [
      {
        title: 'Reports that match no message',
        unit: 'reqps',
        queries: [
          {
            query: 'sum by (job, by) (rate(signalpost_unmatched_reports_total[5m]))',
            legend: '{{by}}',
          },
        ],
      },
    ],
  },
  signalpost_replies_total: {
    panels: [
      {
        title: 'Replies',
        unit: 'reqps',
        queries: [
          {
            query: 'sum by (job, result) (rate(signalpost_replies_total[5m]))',
            legend: '{{result}}',
          },
        ],
      },
    ],
  },
  signalpost_reply_bytes_total: {
    panels: [
      {
        title: 'Bytes of replies per second',
        unit: 'bytes',
        queries: [
          { query: 'sum by (job) (rate(signalpost_reply_bytes_total[5m]))', legend: '{{job}}' },
        ],
      },
    ],
  },
  signalpost_sending_domains: {
    panels: [
      {
        title: 'Sending domains',
        unit: 'short',
        queries: [
          { query: 'max by (job, state) (signalpost_sending_domains)', legend: '{{state}}' },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostDomainBroken',
        query: 'max by (job) (signalpost_sending_domains{state="broken"}) > 0',
        duration: '15m',
        severity: 'warning',
        summary: 'The DNS records of a sending domain are no longer correct.',
        action: 'Find the domain under Needs attention, and publish its records again.',
        docs: 'docs/operate/monitor.md#needs-attention',
      },
    ],
  },
  signalpost_bounce_certificate_expiry_timestamp_seconds: {
    panels: [
      {
        title: 'Certificate of the bounce server expires',
        unit: 's',
        queries: [
          {
            query: 'min by (job) (signalpost_bounce_certificate_expiry_timestamp_seconds) - time()',
            legend: 'left',
          },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostCertificateExpiring',
        query:
          'min by (job, instance) (signalpost_bounce_certificate_expiry_timestamp_seconds) - time() < 14 * 86400',
        duration: '60m',
        severity: 'warning',
        summary: 'The certificate of the bounce server expires within 14 days.',
        action:
          'Check that the certificate is renewed, and search the log for a new one that can’t be used.',
        docs: 'docs/reference/settings.md#bounces-and-complaints',
      },
    ],
  },
  signalpost_database_up: {
    panels: [
      {
        title: 'Database responds',
        unit: 'short',
        queries: [{ query: 'signalpost_database_up', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostDatabaseDown',
        query: 'min by (job, instance) (signalpost_database_up) == 0',
        duration: '1m',
        severity: 'critical',
        summary: 'The database doesn’t respond to {{ $labels.instance }}.',
        action: 'Check the server of DATABASE_URL. Nothing is accepted until it responds.',
        docs: 'docs/operate/scale.md#survive-the-loss-of-the-database-server',
      },
    ],
  },
  signalpost_database_waiting: {
    panels: [
      {
        title: 'Statements waiting for a connection',
        unit: 'short',
        queries: [{ query: 'signalpost_database_waiting', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostDatabaseBusy',
        query: 'min_over_time(signalpost_database_waiting[5m]) > 0',
        duration: '10m',
        severity: 'warning',
        summary: 'Statements of {{ $labels.instance }} constantly wait for a connection.',
        action: 'Check the load of the database.',
        docs: 'docs/operate/scale.md#size-postgresql',
      },
    ],
  },
  signalpost_process_info: {
    panels: [
      {
        title: 'Processes by version',
        unit: 'short',
        queries: [
          {
            query: 'sum by (version, roles) (signalpost_process_info)',
            legend: '{{version}} {{roles}}',
          },
        ],
      },
    ],
  },
  signalpost_service_processes: {
    alerts: [
      {
        name: 'SignalpostProcessVanished',
        query: 'max by (job) (signalpost_service_processes{state="vanished"}) > 0',
        duration: '1m',
        severity: 'warning',
        summary: 'A process stopped reporting without having been stopped.',
        action: 'See which one under Account, Processes, and check its machine.',
        docs: 'docs/operate/scale.md#see-your-nodes',
      },
    ],
  },
  signalpost_clock_offset_seconds: {
    panels: [
      {
        title: 'Difference to the database’s clock',
        unit: 's',
        queries: [{ query: 'signalpost_clock_offset_seconds', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostClockWrong',
        query: 'signalpost_clock_offset_seconds > 5',
        duration: '5m',
        severity: 'warning',
        summary:
          'The clocks of {{ $labels.instance }} and of the database differ by more than 5 seconds.',
        action: 'Synchronize the clocks of both machines with NTP.',
        docs: 'docs/operate/faults.md#clocks',
      },
    ],
  },
  signalpost_disk_free_bytes: {
    panels: [
      {
        title: 'Free space for DATA_DIR',
        unit: 'bytes',
        queries: [{ query: 'signalpost_disk_free_bytes', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostDiskLow',
        query: 'signalpost_disk_free_bytes / signalpost_disk_size_bytes < 0.1',
        duration: '15m',
        severity: 'warning',
        summary: 'Less than 10% of the disk of {{ $labels.instance }} is free.',
        action: 'Free some space, or move DATA_DIR to a larger disk.',
        docs: 'docs/operate/monitor.md#doctor',
      },
      {
        name: 'SignalpostDiskFull',
        query: 'signalpost_disk_free_bytes < 1024 * 1024 * 1024',
        duration: '5m',
        severity: 'critical',
        summary: 'Less than 1 GiB of the disk of {{ $labels.instance }} is free.',
        action: 'Free some space now: when the disk is full, no mail is accepted.',
        docs: 'docs/operate/monitor.md#doctor',
      },
    ],
  },
  signalpost_backup_base_age_seconds: {
    panels: [
      {
        title: 'Age of the last base backup',
        unit: 's',
        queries: [{ query: 'signalpost_backup_base_age_seconds', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostBackupOld',
        query: 'signalpost_backup_base_age_seconds > 36 * 3600',
        duration: '0m',
        severity: 'warning',
        summary: 'The last base backup is more than 36 hours old.',
        action: 'Search the log for backup errors, and check the space in BACKUP_TO.',
        docs: 'docs/operate/back-up.md#back-up-the-embedded-database',
      },
    ],
  },
  signalpost_backup_wal_age_seconds: {
    panels: [
      {
        title: 'Time since all changes were in the backup',
        unit: 's',
        queries: [{ query: 'signalpost_backup_wal_age_seconds', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostBackupLate',
        query: 'signalpost_backup_wal_age_seconds > 900',
        duration: '5m',
        severity: 'warning',
        summary: 'The backup is more than 15 minutes behind.',
        action: 'Search the log for backup errors. With a longer BACKUP_EVERY, raise this limit.',
        docs: 'docs/operate/back-up.md#back-up-the-embedded-database',
      },
    ],
  },
  signalpost_backup_wal_waiting: {
    panels: [
      {
        title: 'Files waiting to be backed up',
        unit: 'short',
        queries: [{ query: 'signalpost_backup_wal_waiting', legend: '{{instance}}' }],
      },
    ],
  },
  signalpost_backup_failing: {
    panels: [
      {
        title: 'Backup fails',
        unit: 'short',
        queries: [{ query: 'signalpost_backup_failing', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostBackupFailing',
        query: 'signalpost_backup_failing == 1',
        duration: '15m',
        severity: 'critical',
        summary: 'Backups of {{ $labels.instance }} fail.',
        action: 'Search the log for the cause, and check BACKUP_TO and its credentials.',
        docs: 'docs/operate/back-up.md#back-up-the-embedded-database',
      },
    ],
  },
  signalpost_tls_certificate_expiry_timestamp_seconds: {
    panels: [
      {
        title: 'TLS certificate expires',
        unit: 'dateTimeFromNow',
        queries: [
          {
            query: 'signalpost_tls_certificate_expiry_timestamp_seconds * 1000',
            legend: '{{instance}}',
          },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostTlsCertificateExpiring',
        query: 'signalpost_tls_certificate_expiry_timestamp_seconds - time() < 21 * 86400',
        duration: '60m',
        severity: 'warning',
        summary: 'The TLS certificate of {{ $labels.instance }} expires in less than 21 days.',
        action:
          'Check that the certificate is renewed, and search the log for a new one that can’t be used.',
        docs: 'docs/operate/deploy.md#use-the-built-in-tls',
      },
    ],
  },
  signalpost_submission_certificate_expiry_timestamp_seconds: {
    panels: [
      {
        title: 'Certificate of SMTP submission expires',
        unit: 'dateTimeFromNow',
        queries: [
          {
            query: 'signalpost_submission_certificate_expiry_timestamp_seconds * 1000',
            legend: '{{instance}}',
          },
        ],
      },
    ],
    alerts: [
      {
        name: 'SignalpostSubmissionCertificateExpiring',
        query: 'signalpost_submission_certificate_expiry_timestamp_seconds - time() < 21 * 86400',
        duration: '60m',
        severity: 'warning',
        summary:
          'The certificate of SMTP submission on {{ $labels.instance }} expires in less than 21 days.',
        action:
          'Check that the certificate is renewed, and search the log for a new one that can’t be used.',
        docs: 'docs/smtp.md#turn-it-on',
      },
    ],
  },
  signalpost_processes: {
    panels: [
      {
        title: 'Processes',
        unit: 'short',
        queries: [{ query: 'signalpost_processes', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostProcessesMissing',
        query: 'signalpost_processes < max_over_time(signalpost_processes[1h])',
        duration: '5m',
        severity: 'warning',
        summary: '{{ $labels.instance }} has fewer processes than before.',
        action: 'Search the log for processes that ended, and check memory.',
        docs: 'docs/operate/scale.md#add-processes-and-nodes',
      },
    ],
  },
};

/** What else is watched: whether the nodes respond, and metrics that every Node.js process has. */
export const watchedNodes: readonly WatchedMetric[] = [
  {
    panels: [
      {
        title: 'Nodes that respond',
        unit: 'short',
        queries: [{ query: 'up{job="signalpost"}', legend: '{{instance}}' }],
      },
    ],
    alerts: [
      {
        name: 'SignalpostDown',
        query: 'up{job="signalpost"} == 0',
        duration: '2m',
        severity: 'critical',
        summary: '{{ $labels.instance }} doesn’t respond.',
        action: 'Check that it runs, and that METRICS_TOKEN is the token of the scraper.',
        docs: 'docs/operate/troubleshoot.md#startup-failures',
      },
    ],
  },
  {
    panels: [
      {
        title: 'CPU',
        unit: 'percentunit',
        queries: [
          {
            query: 'rate(process_cpu_seconds_total{job="signalpost"}[5m])',
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [
          { query: 'process_resident_memory_bytes{job="signalpost"}', legend: '{{instance}}' },
        ],
      },
      {
        title: 'Event loop delay',
        unit: 's',
        queries: [
          {
            query: `nodejs_eventloop_lag_p99_seconds{job="signalpost"} - ${delayResolutionMs / 1_000}`,
            legend: '{{instance}}',
          },
        ],
      },
    ],
  },
];
