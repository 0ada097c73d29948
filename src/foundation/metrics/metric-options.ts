import type { Aggregator, Registry } from 'prom-client';
import { type MetricName, metricDefinitions } from './metrics-table.ts';

/** The options of prom-client for a metric of the table. */
export function metricOptions(name: MetricName, registry: Registry) {
  const { help, labels = [], buckets } = metricDefinitions[name];
  const aggregator: Aggregator = metricDefinitions[name].aggregator ?? 'sum';
  return {
    name,
    help,
    aggregator,
    labelNames: [...labels],
    registers: [registry],
    ...(buckets !== undefined && { buckets: [...buckets] }),
  };
}
