/** A graph of the dashboard. */
export interface MetricPanel {
  readonly title: string;
  /** A unit of Grafana. */
  readonly unit: 'short' | 's' | 'bytes' | 'reqps' | 'percentunit' | 'dateTimeFromNow';
  readonly queries: readonly { readonly query: string; readonly legend: string }[];
}

/** A rule of `ops/alerts.yaml`. */
export interface MetricAlert {
  readonly name: `Signalpost${string}`;
  readonly query: string;
  /** How long the query must have a result; `0m` fires at once. */
  readonly duration: `${number}m`;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  /** What to do next. */
  readonly action: string;
  /** The page and heading that help. */
  readonly docs: `docs/${string}.md#${string}`;
}

/** What is shown and watched of a metric. */
export interface WatchedMetric {
  readonly panels?: readonly MetricPanel[];
  readonly alerts?: readonly MetricAlert[];
}

/** A metric that Signalpost exports. */
export interface MetricDefinition extends WatchedMetric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  readonly buckets?: readonly number[];
  /** How the values of a node's processes are combined; by default, added. */
  readonly aggregator?: 'max' | 'min';
}
