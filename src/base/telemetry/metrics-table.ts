import type { Aggregator, Registry } from 'prom-client';

/** A metric that Signalpost exports. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  readonly buckets?: readonly number[];
  /** How the values of a node's processes are combined; by default, added. */
  readonly aggregator?: 'max' | 'min';
}

type MetricOptions = Omit<MetricDefinition, 'type' | 'help'>;

const define =
  (type: MetricDefinition['type']) =>
  (help: string, options?: MetricOptions): MetricDefinition => ({ type, help, ...options });
const counter = define('counter');
const gauge = define('gauge');
/** Of a node, the value of the process that has most, or least. */
const highest = (help: string, labels?: readonly string[]) =>
  gauge(help, { aggregator: 'max', ...(labels && { labels }) });
const lowest = (help: string) => gauge(help, { aggregator: 'min' });
const histogram = define('histogram');

/**
 * Resolution of measurements of the event loop's delay, which include it in each delay. Every 10 ms, as libraries do by default, would
 * take an idle process more time than everything else.
 */
export const delayResolutionMs = 50;

/** Every metric of the service by its area and name; `ops/watched-metrics.ts` has their graphs and alerts. */
export const metricsTable = {
  Sending: {
    signalpost_send_accepted_total: counter(
      'Sends that returned 200, and accepted messages of batches',
    ),
    signalpost_send_refused_total: counter('Rejected sends, and rejected messages of batches', {
      labels: ['error'],
    }),
    signalpost_send_accept_seconds: histogram(
      'Time from the first byte of an accepted send to its response',
      { buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] },
    ),
    signalpost_send_batch_rows: histogram('Messages per commit', {
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    }),
    signalpost_send_waiting: gauge('Requests waiting for a commit'),
  },
  Outbox: {
    signalpost_outbox_rows_total: counter(
      'Rows of accounts’ outboxes by what was written into them: `accepted` or `failed`',
      { labels: ['outcome'] },
    ),
    signalpost_outbox_lag_seconds: highest(
      'For how long the outbox that is furthest behind has had rows to read, or couldn’t be read; absent where none is read',
    ),
    signalpost_outbox_slot_bytes: highest(
      'Bytes of write-ahead log that the replication slot of an outbox holds back, the most of all; absent without slots',
    ),
  },
  'SMTP submission': {
    signalpost_submission_sessions: gauge(
      'Open SMTP sessions of programs that submit messages; absent without SMTP submission',
    ),
    signalpost_submission_replies_total: counter(
      'Replies to `AUTH`, `MAIL`, `RCPT` and to messages (`DATA`) over SMTP',
      { labels: ['command', 'code'] },
    ),
  },
  Queue: {
    signalpost_queue_oldest_due_seconds: highest('How long the oldest due message has waited'),
    signalpost_queue_entries: highest(
      'Messages that aren’t final, scheduled ones included; estimated above 10,000',
    ),
    signalpost_worker_busy: gauge('Messages being sent'),
  },
  Delivery: {
    signalpost_delivery_outcomes_total: counter(
      'Results of attempts per recipient. The receiver is a known mailbox provider, simulator, other, or none if no server was tried; a relay is other',
      { labels: ['outcome', 'receiver'] },
    ),
    signalpost_delivery_latency_seconds: histogram(
      'Time from acceptance by the service to acceptance by the receiving server',
      { buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600] },
    ),
    signalpost_feedback_reports_total: counter(
      'Reports about messages after delivery, by mail, from a relay or by an unsubscribe link; repeated reports count again',
      { labels: ['kind'] },
    ),
    signalpost_unmatched_reports_total: counter(
      'Reports after delivery that match no message or none of its recipients, by who reports',
      { labels: ['by'] },
    ),
    signalpost_replies_total: counter(
      'Mail to reply addresses by result: `stored`, `repeated`, or why it was refused',
      { labels: ['result'] },
    ),
    signalpost_reply_bytes_total: counter('Bytes of stored replies'),
    signalpost_sending_domains: highest(
      'Sending domains by the state of their DNS records, read at most once a minute; at most 10,000',
      ['state'],
    ),
    signalpost_bounce_certificate_expiry_timestamp_seconds: lowest(
      'When the certificate of BOUNCE_TLS_CERT in use expires',
    ),
  },
  'Database and disk': {
    signalpost_database_up: lowest('1 if the database responded within 1.5 seconds'),
    signalpost_database_waiting: gauge('Statements waiting for a connection to the database'),
    signalpost_process_info: gauge('Processes of the node, by version and roles', {
      labels: ['version', 'roles'],
    }),
    signalpost_service_processes: highest(
      'Processes of all nodes: `running`, or `vanished` within the last hour',
      ['state'],
    ),
    signalpost_clock_offset_seconds: highest(
      'How much the clock of the node’s machine differs from the database’s',
    ),
    signalpost_disk_free_bytes: lowest('Free space on the disk of DATA_DIR'),
    signalpost_disk_size_bytes: highest('Size of the disk of DATA_DIR'),
  },
  Backups: {
    signalpost_backup_base_timestamp_seconds: highest(
      'When the last base backup of the embedded database finished',
    ),
    signalpost_backup_base_age_seconds: highest(
      'Time since the last base backup of the embedded database finished',
    ),
    signalpost_backup_wal_timestamp_seconds: highest('When all changes were last in the backup'),
    signalpost_backup_wal_age_seconds: highest(
      'Time since all changes were in the backup; changes follow after BACKUP_EVERY',
    ),
    signalpost_backup_wal_waiting: highest('Files of up to 16 MiB waiting to be backed up'),
    signalpost_backup_failing: highest('1 if the last attempt to back up failed'),
  },
  TLS: {
    signalpost_tls_certificate_expiry_timestamp_seconds: lowest(
      'When the certificate in TLS_CERT expires; absent without TLS_CERT',
    ),
    signalpost_submission_certificate_expiry_timestamp_seconds: lowest(
      'When the certificate of SMTP submission expires; absent without SMTP submission',
    ),
  },
  Processes: {
    signalpost_processes: gauge('Processes of the node included in the metrics'),
  },
};

type Table = typeof metricsTable;
type DefinitionsOf<Area> = Area extends Readonly<Record<string, unknown>> ? keyof Area : never;

/** The name of a metric of the service. */
export type MetricName = DefinitionsOf<Table[keyof Table]>;

/** The definitions of all metrics by name. */
export const metricDefinitions: Readonly<Record<MetricName, MetricDefinition>> = Object.assign(
  {},
  ...Object.values(metricsTable),
);

/** The options of prom-client for a metric of the table. */
export function metricOptions(name: MetricName, registry: Registry) {
  const { help, labels = [], buckets } = metricDefinitions[name];
  const aggregator: Aggregator = metricDefinitions[name].aggregator ?? 'sum';
  return {
    name,
    help,
    aggregator,
    labelNames: [...labels],
    registers: [registry],
    ...(buckets !== undefined && { buckets: [...buckets] }),
  };
}
