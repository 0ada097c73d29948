import { Gauge, type Registry } from 'prom-client';
import type { MaybePromise } from '../values/maybe-promise.ts';
import { type MetricName, metricOptions } from './metrics-table.ts';

/** Registers a gauge whose value is read for each collection; undefined: it has none. */
export function registerGauge(
  registry: Registry,
  name: MetricName,
  read: () => MaybePromise<number | undefined>,
): void {
  new Gauge({
    ...metricOptions(name, registry),
    async collect() {
      const value = await read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
}
