import { stringify } from 'yaml';
import {
  type MetricAlert,
  type MetricPanel,
  type WatchedMetric,
  watchedMetrics,
  watchedNodes,
} from '../ops/watched-metrics.ts';
import {
  type MetricDefinition,
  type MetricName,
  metricsTable,
} from '../src/base/telemetry/metrics-table.ts';

/** An area of the table: a group of alerts, and a row of the dashboard. */
interface MetricArea {
  readonly name: string;
  readonly metrics: readonly (readonly [name: string, MetricDefinition])[];
  readonly watched: readonly WatchedMetric[];
}

const areas: readonly MetricArea[] = Object.entries(metricsTable).map(([name, metrics]) => {
  const entries = Object.entries(metrics) as [string, MetricDefinition][];
  const own = entries.map(([metric]) => watchedMetrics[metric as MetricName] ?? {});
  return {
    name,
    metrics: entries,
    watched: name === 'Processes' ? [...watchedNodes, ...own] : own,
  };
});

/** The tables of docs/operate/monitor.md. */
export function describeMetrics(): Readonly<Record<'metrics' | 'alerts', string>> {
  const metrics = areas.flatMap((area) =>
    area.metrics.map(([name, { type, help, labels = [] }]) =>
      toRow([code(name), type, labels.map(code).join(', '), asCell(help)]),
    ),
  );
  const alerts = areas.flatMap(alertsOf).map((alert) => {
    const { name, severity, summary, duration, action, docs } = alert;
    const [page = '', anchor = ''] = docs.split('#');
    const path = page.replace('docs/operate/', '').replace(/^docs\//, '../');
    const link = `[${asCell(action)}](${path === 'monitor.md' ? '' : path}#${anchor})`;
    return toRow([code(name), severity, asCell(summary), toMinutes(duration), link]);
  });
  const head = (...cells: string[]) => [toRow(cells), toRow(cells.map(() => '---'))];
  return {
    metrics: [...head('metric', 'type', 'labels', 'meaning'), ...metrics].join('\n'),
    alerts: [...head('alert', 'severity', 'fires if', 'for', 'do this'), ...alerts].join('\n'),
  };
}

/** `ops/alerts.yaml`, rules for Prometheus. */
export function writeAlertRules(): string {
  const groups = areas.map((area) => ({
    name: `signalpost-${area.name.toLowerCase().replaceAll(' ', '-')}`,
    rules: alertsOf(area).map(({ name, query, duration, severity, summary, action, docs }) => ({
      alert: name,
      expr: query,
      for: duration,
      labels: { severity },
      annotations: { summary, description: action, docs },
    })),
  }));
  const note = '# Generated from ops/watched-metrics.ts. Changes here are lost.\n';
  return note + stringify({ groups }, { lineWidth: 0 });
}

const columns = 3;
const width = 24 / columns;
const height = 8;
const datasource = { type: 'prometheus', uid: '$datasource' };

/** `ops/grafana/signalpost.json`, a dashboard for Grafana. */
export function writeDashboard(): string {
  const panels: object[] = [];
  let y = 0;
  for (const area of areas) {
    const graphs = area.watched.flatMap((metric) => metric.panels ?? []);
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: area.name,
      collapsed: false,
      gridPos: { h: 1, w: 24, x: 0, y },
      panels: [],
    });
    y += 1;
    for (const [index, panel] of graphs.entries()) {
      const x = (index % columns) * width;
      const row = Math.floor(index / columns);
      const gridPos = { h: height, w: width, x, y: y + row * height };
      panels.push(toGraph(panels.length + 1, panel, gridPos));
    }
    y += Math.ceil(graphs.length / columns) * height;
  }
  const dashboard = {
    uid: 'signalpost',
    title: 'Signalpost',
    tags: ['signalpost'],
    schemaVersion: 38,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function toGraph(id: number, { title, unit, queries }: MetricPanel, gridPos: object) {
  return {
    id,
    type: 'timeseries',
    title,
    datasource,
    gridPos,
    fieldConfig: {
      defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } },
      overrides: [],
    },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ query, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr: query,
      legendFormat: legend,
    })),
  };
}

function alertsOf({ watched }: MetricArea): MetricAlert[] {
  return watched.flatMap(({ alerts = [] }) => alerts);
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A sentence as a cell: settings as code, labels by their name, and no full stop. */
function asCell(text: string): string {
  return text
    .replaceAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g, code)
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_all, label: string) => `the ${label}`)
    .replace(/\.$/, '')
    .replace(/^[a-z]/, (first) => first.toUpperCase());
}

function toMinutes(duration: MetricAlert['duration']): string {
  return duration === '0m' ? '' : duration.replace('m', ' min');
}

function code(text: string): string {
  return `\`${text}\``;
}
