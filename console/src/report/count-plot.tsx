import { Group, Skeleton, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useId, useState } from 'react';
import type { ReportRow } from '../api/management.generated.ts';
import { Note } from '../components/note.tsx';
import { formatNumber } from '../format/format-number.ts';
import { formatShortDay, formatShortTime } from '../format/format-time.ts';
import { useCapturing } from '../message/use-captured.ts';
import { text } from '../texts/text.ts';
import { niceAxisMax, type PlotPoint, plotPoints } from './plot-points.ts';
import { titleOf } from './report-figures.ts';
import type { ReportPeriod } from './use-report.ts';
import './report.css';

const height = 200;
const [left, bottom, top] = [44, 22, 8];

/** Bar segments, bottom to top. */
const stackedSeries = ['delivered', 'bounced', 'open'] as const;

interface CountPlotProps {
  rows: readonly ReportRow[] | undefined;
  period: ReportPeriod;
  unit: 'day' | 'hour';
  /** The period before, shown as a line. */
  earlier?: { readonly rows: readonly ReportRow[] | undefined; readonly period: ReportPeriod };
}

/**
 * Messages per day or hour as bars, with a line of unique opens and marks of what was accepted in the period before. The same data
 * is in figures and tables, so the chart is hidden from screen readers.
 */
export function CountPlot({ rows, period, unit, earlier }: CountPlotProps) {
  const { ref, width } = useElementSize();
  const [hovered, setHovered] = useState<number>();
  const capturing = useCapturing();
  const points = rows === undefined ? [] : plotPoints(rows, period, unit);
  const before =
    earlier?.rows && plotPoints(earlier.rows, earlier.period, unit).map((one) => sum(one));
  const unfinished = unfinishedIndex(points);
  const name = (point: PlotPoint) => (unit === 'day' ? formatShortDay : formatShortTime)(point.at);
  const at = hovered === undefined ? undefined : points[hovered];
  return (
    <div ref={ref} aria-hidden="true">
      {rows === undefined || width === 0 ? (
        <Skeleton height={height} />
      ) : (
        <Bars
          points={points}
          before={before}
          unfinished={unfinished}
          width={width}
          name={name}
          hovered={hovered}
          point={setHovered}
        />
      )}
      <Group gap="2px 14px" mt={4} mih={22}>
        {[...stackedSeries, 'opened' as const].map((one) => (
          <PlotKey key={one} series={one} count={at?.[one]}>
            {titleOf(one, capturing)}
          </PlotKey>
        ))}
        {earlier !== undefined && (
          <PlotKey
            series="before"
            count={hovered === undefined ? undefined : (before?.[hovered] ?? 0)}
          >
            {text('reports.before')}
          </PlotKey>
        )}
        {unfinished >= 0 && (
          <PlotKey series="unfinished">
            {text(unit === 'day' ? 'reports.unfinishedDay' : 'reports.unfinishedHour')}
          </PlotKey>
        )}
        <Text size="xs" fw={600} ml="auto">
          {at !== undefined && name(at)}
        </Text>
      </Group>
    </div>
  );
}

interface PlotKeyProps {
  series: string;
  /** Shown while the day or hour is pointed at. */
  count?: number | undefined;
  children: string;
}

function PlotKey({ series, count, children }: PlotKeyProps) {
  return (
    <Group gap={6} wrap="nowrap">
      <span className="plot-key" data-series={series} />
      <Note>
        {children}
        {count !== undefined && `: ${formatNumber(count)}`}
      </Note>
    </Group>
  );
}

/** The day or hour that isn't over and has messages already; -1: none. */
function unfinishedIndex(points: readonly PlotPoint[]): number {
  const now = Date.now();
  return points.findIndex(
    (point, index) =>
      point.at.getTime() <= now &&
      now < (points[index + 1]?.at.getTime() ?? Infinity) &&
      sum(point) > 0,
  );
}

interface BarsProps {
  points: readonly PlotPoint[];
  /** Messages of each day or hour of the period before, if it is compared. */
  before: readonly number[] | undefined;
  /** The bar that isn't complete, if any. */
  unfinished: number;
  width: number;
  name: (point: PlotPoint) => string;
  hovered: number | undefined;
  point: (index: number | undefined) => void;
}

function Bars({ points, before, unfinished, width, name, hovered, point }: BarsProps) {
  const maxCount = Math.max(
    ...points.map((one) => sum(one)),
    ...points.map(({ opened }) => opened),
    ...(before ?? []),
  );
  const limit = niceAxisMax(maxCount);
  const hatch = useId();
  const slot = (width - left) / points.length;
  const bar = Math.min(Math.max(slot * 0.68, 2), 28);
  const mark = Math.min(slot * 0.92, bar + 8);
  const y = (value: number) => height - bottom - (value / limit) * (height - bottom - top);
  const x = (index: number) => left + slot * (index + 0.5);
  const labelInterval = Math.ceil(64 / slot);
  // The current day or hour isn't complete, and what comes after it has no value, which isn't the same as zero.
  const past = points.filter(
    (_, index) => (points[index + 1]?.at.getTime() ?? Infinity) <= Date.now(),
  );
  return (
    <svg
      aria-hidden="true"
      className="plot"
      width={width}
      height={height}
      onPointerLeave={() => point(undefined)}
    >
      <pattern
        id={hatch}
        width={4}
        height={4}
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <line className="plot-hatch" y2={4} />
      </pattern>
      {[0, 0.25, 0.5, 0.75, 1].map((share) => (
        <g key={share}>
          <line
            className="plot-grid"
            x1={left}
            x2={width}
            y1={y(limit * share)}
            y2={y(limit * share)}
          />
          <text className="plot-tick" x={left - 8} y={y(limit * share) + 4} textAnchor="end">
            {formatNumber(limit * share)}
          </text>
        </g>
      ))}
      {points.map((one, index) => (
        <g key={one.at.getTime()} onPointerEnter={() => point(index)}>
          <rect
            className="plot-slot"
            data-pointed={hovered === index}
            x={x(index) - slot / 2}
            y={top}
            width={slot}
            height={height - bottom - top}
          />
          {stack(one).map(({ part, from, to }) => (
            <rect
              key={part}
              className="plot-part"
              data-series={part}
              x={x(index) - bar / 2}
              y={y(to)}
              width={bar}
              height={y(from) - y(to)}
            />
          ))}
          {index === unfinished && (
            <rect
              fill={`url(#${hatch})`}
              x={x(index) - bar / 2}
              y={y(sum(one))}
              width={bar}
              height={y(0) - y(sum(one))}
            />
          )}
          {index % labelInterval === 0 && (
            <text className="plot-tick" x={x(index)} y={height - 6} textAnchor="middle">
              {name(one)}
            </text>
          )}
        </g>
      ))}
      {before?.slice(0, points.length).map((value, index) => (
        <line
          // biome-ignore lint/suspicious/noArrayIndexKey: marks have no state
          key={index}
          className="plot-line"
          data-series="before"
          x1={x(index) - mark / 2}
          x2={x(index) + mark / 2}
          y1={y(value)}
          y2={y(value)}
        />
      ))}
      {past.some(({ opened }) => opened > 0) && (
        <polyline
          className="plot-line"
          data-series="opened"
          points={past.map(({ opened }, index) => `${x(index)},${y(opened)}`).join(' ')}
        />
      )}
    </svg>
  );
}

function sum(point: PlotPoint): number {
  return stackedSeries.reduce((total, part) => total + point[part], 0);
}

/** Start and end of each bar segment. */
function stack(point: PlotPoint) {
  let from = 0;
  return stackedSeries
    .map((part) => {
      const to = from + point[part];
      const placed = { part, from, to };
      from = to;
      return placed;
    })
    .filter((one) => one.to > one.from);
}
