import { Group, Skeleton, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useState } from 'react';
import type { ReportRow } from '../api/management.generated.ts';
import { formatNumber } from '../format/format-number.ts';
import { formatShortDay, formatShortTime } from '../format/format-time.ts';
import { useCapturing } from '../message/use-captured.ts';
import { text } from '../texts/text.ts';
import { niceAxisMax, type PlotPoint, plotPoints } from './plot-points.ts';
import { titleOf } from './report-figures.ts';
import type { ReportPeriod } from './use-report.ts';

const height = 200;
const [left, bottom, top] = [44, 22, 8];

/** Bar segments, bottom to top. */
const stackedSeries = ['delivered', 'bounced', 'open'] as const;

interface CountPlotProps {
  rows: readonly ReportRow[] | undefined;
  period: ReportPeriod;
  unit: 'day' | 'hour';
  /** The period before, shown as a line instead of the opens. */
  earlier?: { readonly rows: readonly ReportRow[] | undefined; readonly period: ReportPeriod };
}

/**
 * Messages per day or hour as bars, with a line of unique opens or of the period before. The same data is in figures and tables, so the chart is hidden from
 * screen readers.
 */
export function CountPlot({ rows, period, unit, earlier }: CountPlotProps) {
  const { ref, width } = useElementSize();
  const [hovered, setHovered] = useState<number>();
  const capturing = useCapturing();
  const points = rows === undefined ? [] : plotPoints(rows, period, unit);
  const before =
    earlier?.rows && plotPoints(earlier.rows, earlier.period, unit).map((one) => sum(one));
  const name = (point: PlotPoint) => (unit === 'day' ? formatShortDay : formatShortTime)(point.at);
  const at = hovered === undefined ? undefined : points[hovered];
  return (
    <div ref={ref} aria-hidden="true">
      {rows === undefined || width === 0 ? (
        <Skeleton height={height} />
      ) : (
        <Bars
          points={points}
          before={earlier === undefined ? undefined : (before ?? [])}
          width={width}
          name={name}
          hovered={hovered}
          point={setHovered}
        />
      )}
      <Group gap="md" mt={4} mih={22}>
        {[...stackedSeries, ...(earlier === undefined ? (['opened'] as const) : [])].map((one) => (
          <Group key={one} gap={6} wrap="nowrap">
            <span className="plot-key" data-series={one} />
            <Text size="xs" c="dimmed">
              {titleOf(one, capturing)}
              {at !== undefined && `: ${formatNumber(at[one])}`}
            </Text>
          </Group>
        ))}
        {earlier !== undefined && (
          <Group gap={6} wrap="nowrap">
            <span className="plot-key" data-series="before" />
            <Text size="xs" c="dimmed">
              {text('reports.before')}
              {hovered !== undefined && `: ${formatNumber(before?.[hovered] ?? 0)}`}
            </Text>
          </Group>
        )}
        <Text size="xs" fw={600} ml="auto">
          {at !== undefined && name(at)}
        </Text>
      </Group>
    </div>
  );
}

interface BarsProps {
  points: readonly PlotPoint[];
  /** Messages of each day or hour of the period before; undefined: opens are shown instead. */
  before: readonly number[] | undefined;
  width: number;
  name: (point: PlotPoint) => string;
  hovered: number | undefined;
  point: (index: number | undefined) => void;
}

function Bars({ points, before, width, name, hovered, point }: BarsProps) {
  const maxCount = Math.max(
    ...points.map((one) => sum(one)),
    ...(before ?? points.map(({ opened }) => opened)),
  );
  const limit = niceAxisMax(maxCount);
  const slot = (width - left) / points.length;
  const bar = Math.min(Math.max(slot * 0.68, 2), 28);
  const y = (value: number) => height - bottom - (value / limit) * (height - bottom - top);
  const x = (index: number) => left + slot * (index + 0.5);
  const labelInterval = Math.ceil(64 / slot);
  // The current day or hour isn't complete, and what comes after it has no value, which isn't the same as zero.
  const past = points.filter(
    (_, index) => (points[index + 1]?.at.getTime() ?? Infinity) <= Date.now(),
  );
  const line = past.map(({ opened }, index) => `${x(index)},${y(opened)}`).join(' ');
  return (
    <svg
      aria-hidden="true"
      className="plot"
      width={width}
      height={height}
      onPointerLeave={() => point(undefined)}
    >
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
          {index % labelInterval === 0 && (
            <text className="plot-tick" x={x(index)} y={height - 6} textAnchor="middle">
              {name(one)}
            </text>
          )}
        </g>
      ))}
      {before !== undefined && (
        <path
          className="plot-before"
          d={smoothPath(before.slice(0, points.length).map((value, index) => [x(index), y(value)]))}
        />
      )}
      {before === undefined && past.some(({ opened }) => opened > 0) && (
        <polyline className="plot-line" points={line} />
      )}
    </svg>
  );
}

function sum(point: PlotPoint): number {
  return stackedSeries.reduce((total, part) => total + point[part], 0);
}

/** A curve through the points that is level at each, so that it never goes beyond them. */
function smoothPath(at: readonly (readonly [number, number])[]): string {
  return at
    .map(([x, y], index) => {
      const [fromX, fromY] = at[index - 1] ?? [];
      if (fromX === undefined) return `M${x},${y}`;
      const middle = (fromX + x) / 2;
      return `C${middle},${fromY} ${middle},${y} ${x},${y}`;
    })
    .join('');
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
