/** Series by their name and labels, with values in promtool's notation, a minute apart. */
type Series = Readonly<Record<string, string>>;

interface AlertCase {
  /** Replaces healthy series, and makes the alert fire at `minute`. */
  readonly cause: Series;
  /** Replaces healthy series and comes close, but must not make the alert fire. */
  readonly harmless: Series;
  /** The labels that it fires with, besides job and severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly minute: number;
}

const instance = { instance: 'mail1:3000' };

function series(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const all = Object.entries({ job: 'signalpost', ...instance, ...labels });
  return `${name}{${all.map(([label, value]) => `${label}="${value}"`).join(',')}}`;
}

const refused = (error: string) => series('signalpost_send_refused_total', { error });
const outcomes = (outcome: string, receiver: string) =>
  series('signalpost_delivery_outcomes_total', { outcome, receiver });
const acceptBucket = (le: string) => series('signalpost_send_accept_seconds_bucket', { le });
const latencyBucket = (le: string) => series('signalpost_delivery_latency_seconds_bucket', { le });
const complaints = series('signalpost_feedback_reports_total', { kind: 'complained' });
const broken = series('signalpost_sending_domains', { state: 'broken' });
const expiry = series('signalpost_bounce_certificate_expiry_timestamp_seconds');
const tlsExpiry = series('signalpost_tls_certificate_expiry_timestamp_seconds');
const submissionExpiry = series('signalpost_submission_certificate_expiry_timestamp_seconds');
const free = series('signalpost_disk_free_bytes');
const size = series('signalpost_disk_size_bytes');
const oldest = series('signalpost_queue_oldest_due_seconds');
const up = series('up');
const databaseUp = series('signalpost_database_up');
const clockOffset = series('signalpost_clock_offset_seconds');
const databaseWaiting = series('signalpost_database_waiting');
const baseAge = series('signalpost_backup_base_age_seconds');
const walAge = series('signalpost_backup_wal_age_seconds');
const backupFailing = series('signalpost_backup_failing');
const processes = series('signalpost_processes');
const vanished = series('signalpost_service_processes', { state: 'vanished' });

const day = 86_400;

/** A service that accepts and delivers a message per second, with few failures. */
export const healthySeries: Series = {
  [up]: '1+0x180',
  [series('signalpost_send_accepted_total')]: '0+60x180',
  [refused('VALIDATION_FAILED')]: '0+1x180',
  [refused('INTERNAL_ERROR')]: '0+0x180',
  [refused('IO_EXCEPTION')]: '0+0x180',
  [acceptBucket('0.01')]: '0+50x180',
  [acceptBucket('1')]: '0+60x180',
  [acceptBucket('5')]: '0+60x180',
  [acceptBucket('+Inf')]: '0+60x180',
  [oldest]: '2+0x180',
  [outcomes('delivered', 'google')]: '0+55x180',
  [outcomes('bounced', 'google')]: '0+1x180',
  [outcomes('deferred', 'google')]: '0+4x180',
  [outcomes('delivered', 'yahoo')]: '0+5x180',
  [outcomes('bounced', 'yahoo')]: '0+0x180',
  [outcomes('deferred', 'yahoo')]: '0+0x180',
  // A program that tries its handling of failures.
  [outcomes('bounced', 'simulator')]: '0+60x180',
  [outcomes('deferred', 'simulator')]: '0+60x180',
  [outcomes('failed', 'none')]: '0+0x180',
  [outcomes('uncertain', 'google')]: '0+0x180',
  [latencyBucket('1')]: '0+50x180',
  [latencyBucket('300')]: '0+60x180',
  [latencyBucket('900')]: '0+60x180',
  [latencyBucket('+Inf')]: '0+60x180',
  [complaints]: '0+0x180',
  [series('signalpost_sending_domains', { state: 'verified' })]: '9+0x180',
  [series('signalpost_sending_domains', { state: 'pending' })]: '3+0x180',
  [broken]: '0+0x180',
  [expiry]: `${60 * day}+0x180`,
  [databaseUp]: '1+0x180',
  [clockOffset]: '0.01+0x180',
  [databaseWaiting]: '0+0x180',
  [free]: '50000000000+0x180',
  [size]: '100000000000+0x180',
  [baseAge]: '3600+60x180',
  [walAge]: '200+0x180',
  [backupFailing]: '0+0x180',
  [processes]: '4+0x180',
  [series('signalpost_service_processes', { state: 'running' })]: '8+0x180',
  [vanished]: '0+0x180',
};

/** A case of every alert in `ops/alerts.yaml`. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
  SignalpostDown: {
    cause: { [up]: '1+0x10 0+0x170' },
    harmless: { [up]: '1+0x9 0 0 1+0x170' },
    labels: instance,
    minute: 15,
  },
  SignalpostSendErrors: {
    cause: { [refused('INTERNAL_ERROR')]: '0+0x10 1+1x170' },
    harmless: { [refused('SENDER_NOT_ALLOWED')]: '0+5x180' },
    labels: { error: 'INTERNAL_ERROR' },
    minute: 20,
  },
  SignalpostSendsRefused: {
    cause: { [refused('PERSONALIZATION_FAILURE')]: '0+30x180' },
    harmless: { [refused('PERSONALIZATION_FAILURE')]: '0+10x180' },
    labels: {},
    minute: 40,
  },
  SignalpostAcceptSlow: {
    cause: { [acceptBucket('1')]: '0+55x180' },
    harmless: { [acceptBucket('0.01')]: '0+10x180' },
    labels: {},
    minute: 30,
  },
  SignalpostQueueLate: {
    cause: { [oldest]: '2+0x10 90+0x170' },
    harmless: { [oldest]: '2+0x9 90 90 90 2+0x170' },
    labels: {},
    minute: 20,
  },
  SignalpostQueueStuck: {
    cause: { [oldest]: '0+60x180' },
    harmless: { [oldest]: '800+0x180' },
    labels: {},
    minute: 30,
  },
  SignalpostSendingFails: {
    cause: { [outcomes('failed', 'none')]: '0+0x10 1+0x170' },
    harmless: { [outcomes('expired', 'none')]: '0+1x180' },
    labels: {},
    minute: 15,
  },
  SignalpostOutcomesUncertain: {
    cause: { [outcomes('uncertain', 'google')]: '0+1x180' },
    harmless: { [outcomes('uncertain', 'google')]: '0+0x20 3+0x160' },
    labels: {},
    minute: 30,
  },
  SignalpostReceiverDefers: {
    cause: { [outcomes('deferred', 'yahoo')]: '0+8x180' },
    // Less than half, and a receiver with few messages.
    harmless: {
      [outcomes('deferred', 'google')]: '0+40x180',
      [outcomes('deferred', 'apple')]: '0+0x30 4+0x150',
    },
    labels: { receiver: 'yahoo' },
    minute: 60,
  },
  SignalpostBouncesHigh: {
    cause: { [outcomes('bounced', 'yahoo')]: '0+1x180' },
    harmless: {
      [outcomes('bounced', 'google')]: '0+2x180',
      [outcomes('bounced', 'apple')]: '0+0x30 9+0x150',
    },
    labels: { receiver: 'yahoo' },
    minute: 90,
  },
  SignalpostDeliverySlow: {
    cause: { [latencyBucket('300')]: '0+50x180' },
    harmless: { [latencyBucket('1')]: '0+10x180' },
    labels: {},
    minute: 40,
  },
  SignalpostComplaintsHigh: {
    cause: { [complaints]: '0+1x180' },
    harmless: { [complaints]: '0+0x30 3+0x150' },
    labels: {},
    minute: 90,
  },
  SignalpostDomainBroken: {
    cause: { [broken]: '0+0x10 1+0x170' },
    harmless: { [broken]: '0+0x10 1+0x12 0+0x150' },
    labels: {},
    minute: 30,
  },
  SignalpostCertificateExpiring: {
    cause: { [expiry]: `${13 * day}+0x180` },
    harmless: { [expiry]: `${15 * day}+0x180` },
    labels: instance,
    minute: 61,
  },
  SignalpostTlsCertificateExpiring: {
    cause: { [tlsExpiry]: `${20 * day}+0x180` },
    harmless: { [tlsExpiry]: `${22 * day}+0x180` },
    labels: instance,
    minute: 61,
  },
  SignalpostSubmissionCertificateExpiring: {
    cause: { [submissionExpiry]: `${20 * day}+0x180` },
    harmless: { [submissionExpiry]: `${22 * day}+0x180` },
    labels: instance,
    minute: 61,
  },
  SignalpostDatabaseDown: {
    cause: { [databaseUp]: '1+0x10 0+0x170' },
    harmless: { [databaseUp]: '1+0x9 0 1+0x170' },
    labels: instance,
    minute: 15,
  },
  SignalpostDatabaseBusy: {
    cause: { [databaseWaiting]: '3+0x180' },
    harmless: {
      [databaseWaiting]: '0 5 9 0 5 9 0 5 9 0 5 9 0 5 9 0 5 9 0 5 9 0 5 9 0 5 9 0+0x150',
    },
    labels: instance,
    minute: 20,
  },
  SignalpostClockWrong: {
    cause: { [clockOffset]: '60+0x180' },
    harmless: { [clockOffset]: '0+0x10 60 60 60 0+0x160' },
    labels: instance,
    minute: 20,
  },
  SignalpostDiskLow: {
    cause: { [free]: '9000000000+0x180' },
    harmless: { [free]: '11000000000+0x180' },
    labels: instance,
    minute: 20,
  },
  SignalpostDiskFull: {
    cause: { [free]: '1000000000+0x180' },
    harmless: { [free]: '2000000000+0x180' },
    labels: instance,
    minute: 10,
  },
  SignalpostBackupOld: {
    cause: { [baseAge]: `${37 * 3_600}+60x180` },
    harmless: { [baseAge]: `${32 * 3_600}+60x180` },
    labels: instance,
    minute: 1,
  },
  SignalpostBackupLate: {
    cause: { [walAge]: '0+60x180' },
    harmless: { [walAge]: '600+0x180' },
    labels: instance,
    minute: 30,
  },
  SignalpostBackupFailing: {
    cause: { [backupFailing]: '0+0x10 1+0x170' },
    harmless: { [backupFailing]: '0+0x10 1+0x12 0+0x150' },
    labels: instance,
    minute: 30,
  },
  SignalpostProcessVanished: {
    cause: { [vanished]: '0+0x10 1+0x170' },
    harmless: { [vanished]: '0+0x10 1 0+0x168' },
    labels: {},
    minute: 12,
  },
  SignalpostProcessesMissing: {
    cause: { [processes]: '4+0x10 3+0x170' },
    harmless: { [processes]: '3+0x10 4+0x170' },
    labels: instance,
    minute: 20,
  },
};
