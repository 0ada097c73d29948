/** A bar per case of a chart. */
interface ChartSeries {
  readonly label: string;
  /** The figure in `results.json`. */
  readonly figure: string;
  /** Only runs with this history. */
  readonly history?: number;
}

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
  readonly id: string;
  /** Heading and figure in `results.json`; without columns, the topic has its own table. */
  readonly columns?: readonly (readonly [head: string, figure: string])[];
  readonly chart?: {
    readonly title: string;
    readonly unit: string;
    readonly series: readonly ChartSeries[];
    readonly limit?: { readonly label: string; readonly value: number };
  };
}

const rateAndCeiling = [
  ['messages/s', 'rate'],
  ['ceiling/s', 'ceiling'],
  ['ratio', 'ratio'],
] as const;
const percentiles = [
  ['p50 ms', 'p50_ms'],
  ['p99 ms', 'p99_ms'],
] as const;
const ceilingPercentiles = [
  ['ceiling p50 ms', 'ceiling_p50_ms'],
  ['ceiling p99 ms', 'ceiling_p99_ms'],
] as const;
const against = ['compared with', 'against'] as const;
const runs = ['runs', 'runs'] as const;
const service = { label: 'Signalpost', figure: 'rate' } as const;
const p99 = { label: 'Signalpost', figure: 'p99_ms' } as const;
const postP99 = { label: 'No-op POST', figure: 'ceiling_p99_ms' } as const;
const histories = [
  { label: '1,000,000 messages stored', figure: 'p99_ms', history: 1_000_000 },
  { label: '10,000,000 messages stored', figure: 'p99_ms', history: 10_000_000 },
] as const;

export const benchmarkTopics: readonly BenchmarkTopic[] = [
  {
    id: 'accept',
    columns: [...rateAndCeiling, against, ...percentiles, ...ceilingPercentiles, runs],
    chart: {
      title: 'Accepting at 128 connections',
      unit: 'messages per second',
      series: [service, { label: 'Ceiling', figure: 'ceiling' }],
    },
  },
  {
    id: 'capacity',
    columns: [
      ['messages/s', 'rate'],
      ['service µs', 'service_us'],
      ['database µs', 'database_us'],
      ['WAL bytes', 'wal_bytes'],
      ['bytes kept', 'kept_bytes'],
      ['commits', 'commits'],
      ['through/s', 'through_per_second'],
      ['followers µs', 'follow_us'],
      runs,
    ],
  },
  {
    id: 'accept-cases',
    columns: [...rateAndCeiling, ...percentiles, ...ceilingPercentiles],
    chart: {
      title: 'Accepting under different loads',
      unit: 'messages per second',
      series: [service, { label: 'No-op POST', figure: 'ceiling' }],
    },
  },
  {
    id: 'latency',
    columns: [
      ['messages/s', 'rate'],
      ...percentiles,
      ...ceilingPercentiles,
      ['p99 ratio', 'ratio'],
    ],
    chart: {
      title: 'Latency of accepting, p99',
      unit: 'milliseconds',
      series: [p99, postP99],
    },
  },
  {
    id: 'together',
    columns: [
      ['accepted/s', 'rate'],
      ['delivered/s', 'delivered_per_second'],
      ...percentiles,
      ...ceilingPercentiles,
      ['p99 ratio', 'ratio'],
      ['goal, at most', 'aim_ratio'],
      runs,
    ],
    chart: {
      title: 'Latency of accepting while delivering, p99',
      unit: 'milliseconds',
      series: [p99, postP99],
    },
  },
  {
    id: 'memory',
    columns: [
      ['max MiB', 'peak_mib'],
      ['limit MiB', 'limit_mib'],
      ['growth MiB', 'growth_mib'],
      ['MiB in each fifth', 'fifths_mib'],
    ],
    chart: {
      title: 'Memory of the largest process over 18 minutes',
      unit: 'MiB',
      series: [{ label: 'Max resident memory', figure: 'peak_mib' }],
      limit: { label: 'limit', value: 238 },
    },
  },
  {
    id: 'deliver',
    columns: [
      ['Signalpost/s', 'rate'],
      ['peer/s', 'ceiling'],
      ['ratio', 'ratio'],
      ['goal, at least', 'aim_ratio'],
      runs,
    ],
    chart: {
      title: 'Delivering, compared with other senders',
      unit: 'messages per second',
      series: [service, { label: 'Peer', figure: 'ceiling' }],
    },
  },
  {
    id: 'deliver-history',
    columns: [...rateAndCeiling, against, ['goal, at least', 'aim_ratio'], runs],
  },
  {
    id: 'receivers',
    columns: [...rateAndCeiling, against],
  },
  {
    id: 'backlog',
    columns: [...rateAndCeiling, against, ...percentiles, runs],
    chart: {
      title: 'A single message, from request to final dot',
      unit: 'milliseconds',
      series: [
        { label: 'Median', figure: 'p50_ms' },
        { label: 'p99', figure: 'p99_ms' },
      ],
    },
  },
  {
    id: 'backlog-memory',
    columns: [
      ['median MiB', 'p50_mib'],
      ['max MiB', 'peak_mib'],
    ],
  },
  {
    id: 'keys',
    columns: [
      ...rateAndCeiling,
      against,
      ['p99 ms', 'p99_ms'],
      ['ceiling p99 ms', 'ceiling_p99_ms'],
      ['goal, at least', 'aim_ratio'],
    ],
    chart: {
      title: 'Accepting with one of 1,000,000 API keys',
      unit: 'messages per second',
      series: [
        { label: 'API key', figure: 'rate' },
        { label: 'Access token', figure: 'ceiling' },
      ],
    },
  },
  {
    id: 'batches',
    columns: [
      ...rateAndCeiling,
      against,
      ['p99 ms', 'p99_ms'],
      ['ceiling p99 ms', 'ceiling_p99_ms'],
      ['goal, at least', 'aim_ratio'],
    ],
  },
  {
    id: 'attachments',
    columns: [...rateAndCeiling, against, ...percentiles, ['goal, at least', 'aim_ratio']],
  },
  {
    id: 'beside-attachments',
    columns: [
      ['messages/s', 'rate'],
      ...percentiles,
      ...ceilingPercentiles,
      ['p99 ratio', 'ratio'],
      ['goal, at most', 'aim_ratio'],
    ],
  },
  {
    id: 'client',
    columns: [...rateAndCeiling, against, ['goal, at least', 'aim_ratio']],
  },
  {
    id: 'reports',
    chart: {
      title: 'Reports, p99',
      unit: 'milliseconds',
      series: histories,
      limit: { label: 'limit', value: 100 },
    },
  },
  {
    id: 'search',
    chart: {
      title: 'Search, p99',
      unit: 'milliseconds',
      series: histories,
      limit: { label: 'limit', value: 50 },
    },
  },
  {
    id: 'rollup',
    columns: [
      ['lag, s', 'behind_s'],
      ['limit, s', 'limit_s'],
    ],
    chart: {
      title: 'Lag of reports at 2,000 opens a second',
      unit: 'seconds',
      series: [{ label: 'Lag', figure: 'behind_s' }],
      limit: { label: 'limit', value: 5 },
    },
  },
  {
    id: 'redirect',
    columns: [
      ['links/s', 'rate'],
      ['ceiling/s', 'ceiling'],
      ['ratio', 'ratio'],
      ['goal, at least', 'aim_ratio'],
      against,
      ['CPU ms per link', 'cpu_ms'],
      ['ceiling CPU ms', 'ceiling_cpu_ms'],
      runs,
    ],
    chart: {
      title: 'Following links',
      unit: 'links per second',
      series: [service, { label: 'Redirect without a lookup', figure: 'ceiling' }],
    },
  },
  {
    id: 'move',
    columns: [
      ['rows', 'rows'],
      ['GB', 'gb'],
      ['stopped, s', 'move_s'],
      ['copy, s', 'copy_s'],
      ['indexes, s', 'index_s'],
      ['compare, s', 'compare_s'],
      ['messages/s', 'rate'],
      ['ceiling/s', 'ceiling'],
      against,
    ],
  },
  {
    id: 'start',
    columns: [['seconds', 'start_s']],
    chart: {
      title: 'From the command to ready',
      unit: 'seconds',
      series: [{ label: 'Start', figure: 'start_s' }],
    },
  },
  {
    id: 'lists',
    columns: [
      ['ms', 'page_ms'],
      ['limit ms', 'limit_ms'],
    ],
    chart: {
      title: 'Lists of the management API, one page',
      unit: 'milliseconds',
      series: [{ label: 'Page', figure: 'page_ms' }],
      limit: { label: 'limit', value: 100 },
    },
  },
  {
    id: 'import',
    columns: [
      ['imported/s', 'rate'],
      ['exported/s', 'ceiling'],
      ['MiB before', 'before_mib'],
      ['max MiB', 'peak_mib'],
    ],
    chart: {
      title: 'Memory while importing contacts',
      unit: 'MiB',
      series: [{ label: 'Max resident memory', figure: 'peak_mib' }],
    },
  },
  {
    id: 'journey',
    columns: [
      ['count', 'count'],
      ['per second', 'rate'],
      ...percentiles,
      ['max ms', 'highest_ms'],
      ['limit ms', 'limit_ms'],
    ],
    chart: {
      title: 'A million messages from request to report',
      unit: 'per second',
      series: [{ label: 'Signalpost', figure: 'rate' }],
    },
  },
  {
    id: 'attack',
    columns: [
      ['responses/s', 'rate'],
      ...percentiles,
      ['rejected', 'refused'],
      ['max MiB', 'peak_mib'],
      ['attacks/s', 'attacks_per_second'],
    ],
    chart: {
      title: 'Sending 200 a second under attack, p99',
      unit: 'milliseconds',
      series: [p99],
      limit: { label: 'limit', value: 500 },
    },
  },
  {
    id: 'submission',
    columns: [
      ['Signalpost/s', 'rate'],
      ['peer/s', 'ceiling'],
      ['ratio', 'ratio'],
      against,
      ...percentiles,
      ['peer p50 ms', 'ceiling_p50_ms'],
      ['peer p99 ms', 'ceiling_p99_ms'],
      runs,
    ],
  },
  {
    id: 'submission-beside',
    columns: [
      ['p50 ms', 'p50_ms'],
      ['p99 ms', 'p99_ms'],
      ['p50 alone, ms', 'ceiling_p50_ms'],
      ['p99 alone, ms', 'ceiling_p99_ms'],
      ['added p99, ms', 'added_p99_ms'],
      ['limit ms', 'limit_ms'],
      runs,
    ],
  },
  {
    id: 'submission-idle',
    columns: [
      ['MiB', 'held_mib'],
      ['limit MiB', 'limit_mib'],
      ['KiB per session', 'kib_per_session'],
      runs,
    ],
  },
  {
    id: 'availability',
    columns: [
      ['kills', 'kills'],
      ['accepted', 'accepted'],
      ['delivered', 'delivered'],
      ['lost', 'lost'],
      ['uncertain', 'uncertain'],
      ['repeated, recorded', 'repeated_on_record'],
      ['repeated, unrecorded', 'repeated_off_record'],
    ],
    chart: {
      title: 'Messages under random faults',
      unit: 'messages',
      series: [
        { label: 'Accepted', figure: 'accepted' },
        { label: 'Delivered', figure: 'delivered' },
      ],
    },
  },
];

const failoverTimes = [
  ['without a 200, s', 'without_200_s'],
  ['until the promotion, s', 'promotion_s'],
  ['promotion to first commit, s', 'committing_s'],
  ['promotion to 200 from all nodes, s', 'after_promotion_s'],
  runs,
] as const;
const failoverCounts = [
  ['minutes', 'minutes'],
  ['faults', 'faults'],
  ['accepted', 'accepted'],
  ['lost', 'lost'],
  ['repeated, recorded', 'doubledUncertain'],
  ['repeated, unrecorded', 'doubled'],
] as const;

/** What docs/operate/high-availability.md shows. */
export const failoverTopics: readonly BenchmarkTopic[] = [
  { id: 'failover', columns: failoverTimes },
  { id: 'failover-runs', columns: failoverCounts },
];

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
