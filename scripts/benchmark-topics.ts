/** A row of the overview. */
export interface Headline {
  /** The activity and its section. */
  readonly link: string;
  readonly topic: string;
  readonly case: string;
  /** `{figure}` is replaced by the figure of the case. */
  readonly template: string;
}

/** What a section of docs/benchmarks.md shows about its topic. */
export interface BenchmarkTopic {
  /** Figures of `results.json`, separated by spaces; without columns, the topic has its own table. */
  readonly columns?: string;
  /** Headings that aren't the usual ones, by figure. */
  readonly heads?: Readonly<Record<string, string>>;
  readonly chart?: {
    readonly title: string;
    readonly unit: string;
    /** The figure of each bar of a case by its label. */
    readonly series: Readonly<Record<string, ChartFigure>>;
    readonly limit?: number;
  };
}

/** A figure of `results.json`, of all runs or only those with this history. */
type ChartFigure = string | { readonly figure: string; readonly history: number };

/** The usual headings of columns by figure; others have the name of their figure. */
export const usualHeads: Readonly<Record<string, string>> = {
  rate: 'messages/s',
  ceiling: 'ceiling/s',
  against: 'compared with',
  p50_ms: 'p50 ms',
  p99_ms: 'p99 ms',
  ceiling_p50_ms: 'ceiling p50 ms',
  ceiling_p99_ms: 'ceiling p99 ms',
  service_us: 'service µs',
  ceiling_us: 'ceiling µs',
  database_us: 'database µs',
  wal_bytes: 'WAL bytes',
  kept_bytes: 'bytes kept',
  through_per_second: 'through/s',
  follow_us: 'followers µs',
  delivered_per_second: 'delivered/s',
  aim_ratio: 'goal, at least',
  peak_mib: 'max MiB',
  limit_mib: 'limit MiB',
  growth_mib: 'growth MiB',
  fifths_mib: 'MiB in each fifth',
  p50_mib: 'median MiB',
  behind_s: 'lag, s',
  limit_s: 'limit, s',
  cpu_ms: 'CPU ms per link',
  ceiling_cpu_ms: 'ceiling CPU ms',
  gb: 'GB',
  move_s: 'stopped, s',
  copy_s: 'copy, s',
  index_s: 'indexes, s',
  compare_s: 'compare, s',
  start_s: 'seconds',
  page_ms: 'ms',
  limit_ms: 'limit ms',
  before_mib: 'MiB before',
  highest_ms: 'max ms',
  refused: 'rejected',
  attacks_per_second: 'attacks/s',
  added_p99_ms: 'added p99, ms',
  held_mib: 'MiB',
  kib_per_session: 'KiB per session',
  repeated_on_record: 'repeated, recorded',
  repeated_off_record: 'repeated, unrecorded',
  without_200_s: 'without a 200, s',
  promotion_s: 'until the promotion, s',
  committing_s: 'promotion to first commit, s',
  after_promotion_s: 'promotion to 200 from all nodes, s',
  doubledUncertain: 'repeated, recorded',
  doubled: 'repeated, unrecorded',
};

const histories = {
  '1,000,000 messages stored': { figure: 'p99_ms', history: 1_000_000 },
  '10,000,000 messages stored': { figure: 'p99_ms', history: 10_000_000 },
} as const;

/** By the ID of the topic. */
export const benchmarkTopics: Readonly<Record<string, BenchmarkTopic>> = {
  accept: {
    columns: 'rate ceiling ratio against p50_ms p99_ms ceiling_p50_ms ceiling_p99_ms runs',
    chart: {
      title: 'Accepting at 128 connections',
      unit: 'messages per second',
      series: { Signalpost: 'rate', Ceiling: 'ceiling' },
    },
  },
  capacity: {
    columns:
      'rate service_us database_us wal_bytes kept_bytes commits through_per_second follow_us runs',
  },
  'accept-cases': {
    columns: 'rate ceiling ratio p50_ms p99_ms ceiling_p50_ms ceiling_p99_ms',
    chart: {
      title: 'Accepting under different loads',
      unit: 'messages per second',
      series: { Signalpost: 'rate', 'No-op POST': 'ceiling' },
    },
  },
  latency: {
    columns: 'rate p50_ms p99_ms ceiling_p50_ms ceiling_p99_ms ratio',
    heads: { ratio: 'p99 ratio' },
    chart: {
      title: 'Latency of accepting, p99',
      unit: 'milliseconds',
      series: { Signalpost: 'p99_ms', 'No-op POST': 'ceiling_p99_ms' },
    },
  },
  together: {
    columns:
      'rate delivered_per_second p50_ms p99_ms ceiling_p50_ms ceiling_p99_ms ratio aim_ratio runs',
    heads: { rate: 'accepted/s', ratio: 'p99 ratio', aim_ratio: 'goal, at most' },
    chart: {
      title: 'Latency of accepting while delivering, p99',
      unit: 'milliseconds',
      series: { Signalpost: 'p99_ms', 'No-op POST': 'ceiling_p99_ms' },
    },
  },
  memory: {
    columns: 'peak_mib limit_mib growth_mib fifths_mib',
    chart: {
      title: 'Memory of the largest process over 18 minutes',
      unit: 'MiB',
      series: { 'Max resident memory': 'peak_mib' },
      limit: 238,
    },
  },
  deliver: {
    columns: 'rate ceiling ratio aim_ratio runs',
    heads: { rate: 'Signalpost/s', ceiling: 'peer/s' },
    chart: {
      title: 'Delivering, compared with other senders',
      unit: 'messages per second',
      series: { Signalpost: 'rate', Peer: 'ceiling' },
    },
  },
  'deliver-history': { columns: 'rate ceiling ratio against aim_ratio runs' },
  receivers: { columns: 'rate ceiling ratio against' },
  backlog: {
    columns: 'rate ceiling ratio against p50_ms p99_ms runs',
    chart: {
      title: 'A single message, from request to final dot',
      unit: 'milliseconds',
      series: { Median: 'p50_ms', p99: 'p99_ms' },
    },
  },
  'backlog-memory': { columns: 'p50_mib peak_mib' },
  keys: {
    columns: 'rate ceiling ratio against p99_ms ceiling_p99_ms aim_ratio',
    chart: {
      title: 'Accepting with one of 1,000,000 API keys',
      unit: 'messages per second',
      series: { 'API key': 'rate', 'Access token': 'ceiling' },
    },
  },
  batches: { columns: 'rate ceiling ratio against p99_ms ceiling_p99_ms aim_ratio' },
  'drop-ins': { columns: 'rate ceiling ratio against service_us ceiling_us runs' },
  attachments: { columns: 'rate ceiling ratio against p50_ms p99_ms aim_ratio' },
  'beside-attachments': {
    columns: 'rate p50_ms p99_ms ceiling_p50_ms ceiling_p99_ms ratio aim_ratio',
    heads: { ratio: 'p99 ratio', aim_ratio: 'goal, at most' },
  },
  client: { columns: 'rate ceiling ratio against aim_ratio' },
  reports: {
    chart: { title: 'Reports, p99', unit: 'milliseconds', series: histories, limit: 100 },
  },
  search: { chart: { title: 'Search, p99', unit: 'milliseconds', series: histories, limit: 50 } },
  rollup: {
    columns: 'behind_s limit_s',
    chart: {
      title: 'Lag of reports at 2,000 opens a second',
      unit: 'seconds',
      series: { Lag: 'behind_s' },
      limit: 5,
    },
  },
  redirect: {
    columns: 'rate ceiling ratio aim_ratio against cpu_ms ceiling_cpu_ms runs',
    heads: { rate: 'links/s' },
    chart: {
      title: 'Following links',
      unit: 'links per second',
      series: { Signalpost: 'rate', 'Redirect without a lookup': 'ceiling' },
    },
  },
  move: { columns: 'rows gb move_s copy_s index_s compare_s rate ceiling against' },
  start: {
    columns: 'start_s',
    chart: { title: 'From the command to ready', unit: 'seconds', series: { Start: 'start_s' } },
  },
  lists: {
    columns: 'page_ms limit_ms',
    chart: {
      title: 'Lists of the management API, one page',
      unit: 'milliseconds',
      series: { Page: 'page_ms' },
      limit: 100,
    },
  },
  import: {
    columns: 'rate ceiling before_mib peak_mib',
    heads: { rate: 'imported/s', ceiling: 'exported/s' },
    chart: {
      title: 'Memory while importing contacts',
      unit: 'MiB',
      series: { 'Max resident memory': 'peak_mib' },
    },
  },
  journey: {
    columns: 'count rate p50_ms p99_ms highest_ms limit_ms',
    heads: { rate: 'per second' },
    chart: {
      title: 'A million messages from request to report',
      unit: 'per second',
      series: { Signalpost: 'rate' },
    },
  },
  attack: {
    columns: 'rate p50_ms p99_ms refused peak_mib attacks_per_second',
    heads: { rate: 'responses/s' },
    chart: {
      title: 'Sending 200 a second under attack, p99',
      unit: 'milliseconds',
      series: { Signalpost: 'p99_ms' },
      limit: 500,
    },
  },
  submission: {
    columns: 'rate ceiling ratio against p50_ms p99_ms ceiling_p50_ms ceiling_p99_ms runs',
    heads: {
      rate: 'Signalpost/s',
      ceiling: 'peer/s',
      ceiling_p50_ms: 'peer p50 ms',
      ceiling_p99_ms: 'peer p99 ms',
    },
  },
  'submission-beside': {
    columns: 'p50_ms p99_ms ceiling_p50_ms ceiling_p99_ms added_p99_ms limit_ms runs',
    heads: { ceiling_p50_ms: 'p50 alone, ms', ceiling_p99_ms: 'p99 alone, ms' },
  },
  'submission-idle': { columns: 'held_mib limit_mib kib_per_session runs' },
  availability: {
    columns: 'kills accepted delivered lost uncertain repeated_on_record repeated_off_record',
    chart: {
      title: 'Messages under random faults',
      unit: 'messages',
      series: { Accepted: 'accepted', Delivered: 'delivered' },
    },
  },
};

/** What docs/operate/high-availability.md shows. */
export const failoverTopics: Readonly<Record<string, BenchmarkTopic>> = {
  failover: { columns: 'without_200_s promotion_s committing_s after_promotion_s runs' },
  'failover-runs': { columns: 'minutes faults accepted lost doubledUncertain doubled' },
};

export const headlines: readonly Headline[] = [
  {
    link: '[Accept](#accept)',
    topic: 'accept',
    case: 'One account',
    template: '{rate}/s on one process, {ratio} of a no-op POST; p99 {p99_ms} ms',
  },
  {
    link: '[Accept while delivering](#accept-while-delivering)',
    topic: 'together',
    case: 'Half of that rate',
    template: 'p99 {p99_ms} ms, {ratio} times that of a no-op POST',
  },
  {
    link: '[Deliver](#deliver)',
    topic: 'deliver',
    case: 'Postfix and OpenDKIM',
    template: '{rate}/s, signed; {ratio} times Postfix with OpenDKIM',
  },
  {
    link: '[Deliver with a backlog](#deliver-with-a-backlog)',
    topic: 'backlog',
    case: 'With 1,000,000 queued messages',
    template: 'another account waits {p50_ms} ms at the median, p99 {p99_ms} ms',
  },
  {
    link: '[Memory](#memory)',
    topic: 'memory',
    case: 'Run 2',
    template: 'at most {peak_mib} MiB per process, limit {limit_mib} MiB',
  },
  {
    link: '[Reports](#reports)',
    topic: 'rollup',
    case: 'Median',
    template: '{behind_s} s lag at 2,000 opens a second, limit {limit_s} s',
  },
  {
    link: '[Tracked links](#tracked-links)',
    topic: 'redirect',
    case: 'Followed links',
    template: '{rate}/s, {ratio} of a redirect without a lookup',
  },
  {
    link: '[Imports](#imports)',
    topic: 'import',
    case: '1,000,000 contacts',
    template: '{rate} contacts/s, at most {peak_mib} MiB',
  },
  {
    link: '[Under attack](#under-attack)',
    topic: 'attack',
    case: 'all',
    template: '{rate} of 200 sends/s got a response, p99 {p99_ms} ms, limit {limit_ms} ms',
  },
];
