import type { Spread } from './benchmark-results.ts';

/** Horizontal bars, grouped by row. */
export interface BarChart {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly string[];
  readonly rows: readonly ChartRow[];
  readonly limit?: number;
}

export interface ChartRow {
  readonly label: string;
  readonly bars: readonly ChartBar[];
}

interface ChartBar {
  /** Index into the chart's series. */
  readonly series: number;
  readonly spread: Spread;
  readonly text: string;
}

const width = 760;
const left = 230;
/** Space for the value next to the longest bar. */
const right = 170;
const plot = width - left - right;
const barHeight = 14;
const barStep = 17;
const rowGap = 12;

/** The chart has its own background, because a page can be dark although the system theme is light. */
const style = `
    svg { --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --grid: #d1d9e0; --first: #0969da; --second: #818b98; --limit: #cf222e }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #0d1117; --ink: #f0f6fc; --faint: #9198a1; --grid: #3d444d; --first: #4493f8; --second: #767e88; --limit: #f85149 }
    }
    text { font: 12px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; fill: var(--ink) }
    .title { font-size: 15px; font-weight: 600 }
    .faint { fill: var(--faint) }
    .end { text-anchor: end }
    .middle { text-anchor: middle }
    .value { stroke: var(--paper); stroke-width: 3; paint-order: stroke }
    .paper { fill: var(--paper); stroke: var(--grid) }
    .grid { stroke: var(--grid) }
    .series-0 { fill: var(--first) }
    .series-1 { fill: var(--second) }
    .range { opacity: 0.45 }
    .whisker { stroke: var(--ink); stroke-width: 1.5 }
    .limit { stroke: var(--limit); stroke-width: 1.5; stroke-dasharray: 5 3 }
    .limit-label { fill: var(--limit) }
  `;

/** Draws the chart as an SVG document, with all values in its description for screen readers. */
export function drawBarChart(chart: BarChart): string {
  const { title, unit, series, rows, limit } = chart;
  const highs = rows.flatMap((row) => row.bars.map(({ spread }) => spread.high));
  const max = Math.max(...highs, limit ?? 0);
  const step = tickStep(max);
  const end = step * Math.ceil(max / step);
  const x = (value: number): number => round(left + (value / end) * plot);
  const legend = drawLegend(series, rows);
  const top = legend.length === 0 ? 54 : 68;
  const body: string[] = [];
  let y = top;
  for (const row of rows) {
    const height = row.bars.length * barStep;
    body.push(text(left - 10, y + height / 2 + 3, row.label, 'end'));
    for (const bar of row.bars) {
      body.push(...drawBar(bar, y, x));
      y += barStep;
    }
    y += rowGap;
  }
  const bottom = y;
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, index) => index * step);
  const axis = ticks.flatMap((tick) => [
    line(x(tick), top - 6, x(tick), bottom, 'grid'),
    text(x(tick), bottom + 16, tick.toLocaleString('en-US'), 'faint middle'),
  ]);
  if (limit !== undefined) {
    axis.push(line(x(limit), top - 8, x(limit), bottom, 'limit'));
    const label = `limit ${limit.toLocaleString('en-US')}`;
    axis.push(text(x(limit), top - 12, label, 'limit-label middle'));
  }
  const height = bottom + 42;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`,
    `  <title id="title">${escapeXml(title)}</title>`,
    `  <desc id="desc">${escapeXml(describe(chart))}</desc>`,
    `  <style>${style}</style>`,
    `  <rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6" />`,
    text(16, 26, title, 'title'),
    ...legend,
    ...axis,
    ...body,
    text(left + plot / 2, bottom + 34, unit, 'faint middle'),
    '</svg>',
    '',
  ].join('\n');
}

function drawBar(
  { series, spread: { median, low, high }, text: label }: ChartBar,
  y: number,
  x: (value: number) => number,
): string[] {
  const solid = median ?? low;
  const middle = y + barHeight / 2;
  const parts = [rect(left, y, x(solid) - left, `series-${series}`)];
  if (median === undefined) parts.push(rect(x(low), y, x(high) - x(low), `series-${series} range`));
  else if (low < high)
    parts.push(
      line(x(low), middle, x(high), middle, 'whisker'),
      line(x(low), middle - 4, x(low), middle + 4, 'whisker'),
      line(x(high), middle - 4, x(high), middle + 4, 'whisker'),
    );
  return [...parts, text(x(high) + 6, y + 11, label, 'value')];
}

/** The legend: series names, and the meaning of whiskers and faded bars if used. */
function drawLegend(series: readonly string[], rows: readonly ChartRow[]): string[] {
  const spreads = rows.flatMap((row) => row.bars.map(({ spread }) => spread));
  const notes = [
    ...(spreads.some(({ median, low, high }) => median !== undefined && low < high)
      ? ['line: range of all runs']
      : []),
    ...(spreads.some(({ median }) => median === undefined) ? ['faded: lowest to highest'] : []),
  ];
  const parts: string[] = [];
  let x = 16;
  if (series.length > 1)
    for (const [index, label] of series.entries()) {
      parts.push(
        `  <rect class="series-${index}" x="${x}" y="37" width="11" height="11" rx="2" />`,
      );
      parts.push(text(x + 17, 47, label, ''));
      x += 17 + label.length * 6.6 + 22;
    }
  if (notes.length > 0) parts.push(text(round(x), 47, `(${notes.join('; ')})`, 'faint'));
  return parts;
}

function describe({ unit, series, rows, limit }: BarChart): string {
  const lines = rows.map(({ label, bars }) => {
    const values = bars.map((bar) =>
      series.length > 1 ? `${series[bar.series]} ${bar.text}` : bar.text,
    );
    return `${label}: ${values.join(', ')}.`;
  });
  const end = limit === undefined ? '' : ` The limit is ${limit}.`;
  return `Bars in ${unit}. ${lines.join(' ')}${end}`;
}

/** Returns 1, 2, 2.5 or 5 times a power of ten, so the axis has four to eight parts. */
function tickStep(max: number): number {
  const rough = max / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((candidate) => candidate * power >= rough) ?? 10;
  return factor * power;
}

function rect(x: number, y: number, length: number, className: string): string {
  return `  <rect class="${className}" x="${x}" y="${y}" width="${round(Math.max(1, length))}" height="${barHeight}" />`;
}

function line(x1: number, y1: number, x2: number, y2: number, className: string): string {
  return `  <line class="${className}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" />`;
}

function text(x: number, y: number, content: string, className: string): string {
  const attribute = className === '' ? '' : ` class="${className}"`;
  return `  <text${attribute} x="${x}" y="${y}">${escapeXml(content)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
