import { type ChartRow, drawBarChart } from './bar-chart.ts';
import { type CaseSummary, formatSpread, spreadOf } from './benchmark-results.ts';
import { type BenchmarkTopic, benchmarkTopics } from './benchmark-topics.ts';

/** The charts of docs/benchmarks.md, by the name of their topic. */
export function plotBenchmarks(summaries: readonly CaseSummary[]): Record<string, string> {
  const charts: Record<string, string> = {};
  for (const [id, { chart }] of Object.entries(benchmarkTopics)) {
    if (chart === undefined) continue;
    const series = Object.keys(chart.series);
    const own = summaries.filter(({ topic }) => topic === id);
    const rows = own.map((summary) => toChartRow(summary, chart));
    charts[id] = drawBarChart({ ...chart, series, rows: rows.filter(hasBars) });
  }
  return charts;
}

function toChartRow(
  { case: label, runs }: CaseSummary,
  { series }: NonNullable<BenchmarkTopic['chart']>,
): ChartRow {
  const bars = Object.values(series).flatMap((wanted, index) => {
    const { figure, history } =
      typeof wanted === 'string' ? { figure: wanted, history: undefined } : wanted;
    const matching = runs.filter(
      ({ params }) => history === undefined || params?.history === history,
    );
    const spread = spreadOf(matching, figure);
    if (spread === undefined) return [];
    return [{ series: index, spread, text: formatSpread(spread, figure) }];
  });
  return { label, bars };
}

function hasBars({ bars }: ChartRow): boolean {
  return bars.length > 0;
}
