import {
  type CaseSummary,
  formatMiddle,
  formatSpread,
  type RecordedRun,
  type Spread,
  spreadOf,
} from './benchmark-results.ts';
import {
  type BenchmarkTopic,
  benchmarkTopics,
  failoverTopics,
  headlines,
  usualHeads,
} from './benchmark-topics.ts';
import { markdownTable } from './markdown-table.ts';

/** The tables of docs/benchmarks.md, by the name of their topic. */
export function describeBenchmarks(summaries: readonly CaseSummary[]): Record<string, string> {
  for (const { topic } of summaries)
    if (!Object.hasOwn({ ...benchmarkTopics, ...failoverTopics }, topic))
      throw new Error(`results.json has the unknown topic "${topic}"`);
  return { overview: summarizeAll(summaries), ...describeTopics(benchmarkTopics, summaries) };
}

/** The tables of docs/operate/high-availability.md, by the name of their topic. */
export function describeFailovers(summaries: readonly CaseSummary[]): Record<string, string> {
  return describeTopics(failoverTopics, summaries);
}

function describeTopics(
  topics: Readonly<Record<string, BenchmarkTopic>>,
  summaries: readonly CaseSummary[],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(topics).map(([id, { columns, heads }]) => {
      const own = summaries.filter(({ topic }) => topic === id);
      return [id, columns === undefined ? summarizeReading(own) : toTable(own, columns, heads)];
    }),
  );
}

function summarizeAll(summaries: readonly CaseSummary[]): string {
  const rows = headlines.map((headline) => {
    const { link, template } = headline;
    const summary = summaries.find(
      ({ topic, case: name }) => topic === headline.topic && name === headline.case,
    );
    if (summary === undefined) throw new Error(`no run of ${headline.topic}: ${headline.case}`);
    const filled = template.replace(/\{(\w+)\}/g, (_all, figure: string) =>
      formatFigure(summary.runs, figure, formatMiddle),
    );
    return [link, filled];
  });
  return markdownTable(['', 'result'], rows);
}

function toTable(
  summaries: readonly CaseSummary[],
  columns: string,
  heads: BenchmarkTopic['heads'],
): string {
  const figures = columns.split(' ');
  return markdownTable(
    ['', ...figures.map((figure) => heads?.[figure] ?? usualHeads[figure] ?? figure)],
    summaries.map((summary) => [
      summary.case,
      ...figures.map((figure) => formatCell(summary, figure)),
    ]),
  );
}

function formatCell(summary: CaseSummary, figure: string): string {
  const { runs, against } = summary;
  if (figure === 'against') return against;
  if (figure === 'runs') {
    const counted = runs.map(({ params }) => Number(params?.runs ?? 1));
    return String(counted.reduce((sum, count) => sum + count, 0));
  }
  const value = runs[0]?.params?.[figure];
  if (typeof value === 'string') return value;
  const spread = spreadOf(runs, figure);
  return spread === undefined ? '' : formatSpread(spread, figure);
}

/** Reports and searches by number of stored messages: all, the slowest, and how many stay within the limit. */
function summarizeReading(summaries: readonly CaseSummary[]): string {
  const runs = summaries.flatMap((summary) => summary.runs);
  const histories = Map.groupBy(runs, ({ params }) => Number(params?.history));
  return markdownTable(
    [
      'messages stored',
      'cases',
      'p50 ms, all cases',
      'p99 ms, all cases',
      'limit ms',
      'cases with p99 within it',
    ],
    [...histories].map(([history, of]) => {
      const limit = Number(of[0]?.limit_ms);
      return [
        history.toLocaleString('en-US'),
        String(of.length),
        formatFigure(of, 'p50_ms', formatSpread),
        formatFigure(of, 'p99_ms', formatSpread),
        formatFigure(of, 'limit_ms', formatMiddle),
        String(of.filter(({ p99_ms }) => Number(p99_ms) <= limit).length),
      ];
    }),
  );
}

function formatFigure(
  runs: readonly RecordedRun[],
  figure: string,
  format: (spread: Spread, figure: string) => string,
): string {
  const spread = spreadOf(runs, figure);
  return spread === undefined ? '' : format(spread, figure);
}
