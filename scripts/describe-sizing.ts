import { type CaseSummary, spreadOf } from './benchmark-results.ts';

/** The peak hour of a day with business hours has about four times the average. */
const peakFactor = 4;
/** Of each core at the peak: the rest is for retries, reports and bad days. */
const usableShare = 0.6;
const retentionDays = 90;
/** Bloat, indexes that grow, temporary files. */
const diskFactor = 1.3;
const memory = { process: 240, minDatabase: 1_024 };
/** Above, one server would be at its limits even with fast disks. */
const oneDatabase = { cores: 48, walMegabytesPerSecond: 200 };
/** Below, messages are flushed one by one; above, many of many accounts are flushed together. */
const rates = { single: 100, many: 1_000 };
const messagesPerDay = [1e4, 1e6, 1e7, 1e8, 1e9];

interface UnitCost {
  readonly serviceMicroseconds: number;
  readonly databaseMicroseconds: number;
  readonly walBytes: number;
  readonly keptBytes: number;
}

/** The table of docs/operate/sizing.md, computed from the topic `capacity` of the results. */
export function describeSizing(summaries: readonly CaseSummary[]): Record<string, string> {
  const single = readCost(summaries, '100 a second');
  const many = readCost(summaries, '200 accounts, burst');
  const head = [
    'messages a day',
    'peak a second',
    'service cores',
    'database cores',
    'service memory',
    'database memory',
    `disk for ${retentionDays} days`,
    'WAL a day',
    'databases',
  ];
  const rows = messagesPerDay.map((count) => sizeFor(count, single, many));
  return {
    sizing: [head, head.map(() => '---'), ...rows]
      .map((row) => `| ${row.join(' | ')} |`)
      .join('\n'),
  };
}

function sizeFor(count: number, single: UnitCost, many: UnitCost): string[] {
  const peak = (count / 86_400) * peakFactor;
  const cost = (key: keyof UnitCost): number => interpolate(peak, single[key], many[key]);
  const cores = (microseconds: number): number => (peak * microseconds) / 1e6 / usableShare;
  const serviceCores = cores(cost('serviceMicroseconds'));
  const databaseCores = cores(cost('databaseMicroseconds'));
  const kept = count * cost('keptBytes');
  const wal = count * cost('walBytes');
  const walPerSecond = ((wal / 86_400) * peakFactor) / 1e6;
  const databases = Math.ceil(
    Math.max(databaseCores / oneDatabase.cores, walPerSecond / oneDatabase.walMegabytesPerSecond),
  );
  const databaseMemory = Math.max(memory.minDatabase, kept / 1_048_576 / databases);
  return [
    count.toLocaleString('en-US'),
    peak < 10 ? peak.toFixed(1) : Math.round(peak).toLocaleString('en-US'),
    formatCores(serviceCores),
    formatCores(databaseCores),
    formatMebibytes(Math.max(1, Math.ceil(serviceCores)) * memory.process),
    formatMebibytes(databaseMemory),
    formatMebibytes((kept * retentionDays * diskFactor) / 1_048_576),
    formatMebibytes(wal / 1_048_576),
    String(databases),
  ];
}

/** By the logarithm of the rate: each tenfold rate flushes more messages together. */
function interpolate(rate: number, single: number, many: number): number {
  const share = Math.log(rate / rates.single) / Math.log(rates.many / rates.single);
  return single + (many - single) * Math.min(1, Math.max(0, share));
}

function readCost(summaries: readonly CaseSummary[], name: string): UnitCost {
  const found = summaries.find((summary) => summary.topic === 'capacity' && summary.case === name);
  const read = (key: string): number => {
    const spread = found && spreadOf(found.runs, key);
    if (spread === undefined) throw new Error(`results.json has no ${key} of capacity, ${name}`);
    return spread.median ?? spread.high;
  };
  return {
    serviceMicroseconds: read('service_us'),
    databaseMicroseconds: read('database_us'),
    walBytes: read('wal_bytes'),
    keptBytes: read('kept_bytes'),
  };
}

function formatCores(cores: number): string {
  return cores < 1 ? 'less than 1' : String(Math.ceil(cores));
}

function formatMebibytes(mebibytes: number): string {
  const units = ['MiB', 'GiB', 'TiB', 'PiB'];
  let value = mebibytes;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
