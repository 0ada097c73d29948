import { useComputedColorScheme } from '@mantine/core';
import {
  Area,
  AreaChart,
  CartesianGrid,
  Legend,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { ReportRow } from '../api/management.generated.ts';
import { formatNumber } from '../format/format-number.ts';
import { text } from '../texts/text.ts';

const light = { accepted: '#0b7285', delivered: '#2b8a3e', bounced: '#c92a2a', opened: '#5f3dc4' };
const dark = { accepted: '#4cc3d9', delivered: '#69db7c', bounced: '#ff8787', opened: '#b197fc' };

const names = ['accepted', 'delivered', 'bounced', 'opened'] as const;

const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** Messages of each day. What it shows stands in a table too, so it is a picture for those who see it. */
export function DayPlot({ rows }: { rows: readonly ReportRow[] }) {
  const scheme = useComputedColorScheme('light');
  const colors = scheme === 'dark' ? dark : light;
  const points = rows.map(({ key, counts }) => ({
    day: day.format(new Date(`${key.slice(0, 10)}T12:00:00`)),
    accepted: counts.accepted,
    delivered: counts.delivered,
    bounced: counts.bounced_hard + counts.bounced_soft,
    opened: counts.opened_people_unique,
  }));
  return (
    <div className="plot" aria-hidden="true">
      <ResponsiveContainer width="100%" height={260}>
        <AreaChart data={points} accessibilityLayer={false}>
          <CartesianGrid
            strokeDasharray="3 3"
            vertical={false}
            stroke="var(--mantine-color-default-border)"
          />
          <XAxis dataKey="day" tick={{ fill: 'var(--mantine-color-dimmed)', fontSize: 12 }} />
          <YAxis
            allowDecimals={false}
            width={48}
            tickFormatter={formatNumber}
            tick={{ fill: 'var(--mantine-color-dimmed)', fontSize: 12 }}
          />
          <Tooltip
            contentStyle={{
              background: 'var(--mantine-color-body)',
              border: '1px solid var(--mantine-color-default-border)',
            }}
          />
          <Legend />
          {names.map((name) => (
            <Area
              key={name}
              type="monotone"
              dataKey={name}
              name={text(`reports.${name}`)}
              stroke={colors[name]}
              fill={colors[name]}
              fillOpacity={0.12}
              isAnimationActive={false}
            />
          ))}
        </AreaChart>
      </ResponsiveContainer>
    </div>
  );
}
