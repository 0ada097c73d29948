import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client';

/** Timeout after which the response omits processes that haven't reported their metrics. */
const metricsTimeoutMs = 2_000;

/** Requests metrics under an id. Sent by a process to the first one, and by the first one to all. */
interface MetricsRequest {
  readonly metricsWanted: number;
}
/** A process's own metrics, or the aggregated text for the process that asked. */
interface MetricsResponse {
  readonly metricsOf: number;
  readonly own?: MetricObject[];
  readonly text?: string;
}
type Message = Partial<MetricsRequest & MetricsResponse>;

/**
 * For one of several processes that share a port: reports its metrics whenever the first process asks.
 * @returns a function for `/metrics`: the sum over all processes, from the first one; only this process's metrics if
 * the first one doesn't respond in time
 */
export function shareMetrics(own: Registry): () => Promise<string> {
  const waiting = new Map<number, (text: string) => void>();
  let last = 0;
  process.on('message', ({ metricsWanted, metricsOf, text }: Message) => {
    if (metricsOf !== undefined && text !== undefined) waiting.get(metricsOf)?.(text);
    if (metricsWanted === undefined) return;
    void own.getMetricsAsJSON().then((found) => {
      process.send?.({
        metricsOf: metricsWanted,
        own: found as MetricObject[],
      } satisfies MetricsResponse);
    });
  });
  return async () => {
    last += 1;
    const requestId = last;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(resolve, 2 * metricsTimeoutMs, undefined);
    waiting.set(requestId, resolve);
    process.send?.({ metricsWanted: requestId } satisfies MetricsRequest);
    const text = await promise;
    clearTimeout(timer);
    waiting.delete(requestId);
    return text ?? own.metrics();
  };
}

/** In the first process: responds to each request with the aggregated metrics of all processes. */
export function gatherMetrics(): void {
  const gatherings = new Map<number, (own: MetricObject[]) => void>();
  let last = 0;
  const gather = async (): Promise<MetricObject[][]> => {
    last += 1;
    const round = last;
    const workers = workersOf().filter((worker) => worker.isConnected());
    const found: MetricObject[][] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, metricsTimeoutMs);
    gatherings.set(round, (own) => {
      found.push(own);
      if (found.length >= workers.length) resolve();
    });
    for (const worker of workers) sendMessage(worker, { metricsWanted: round });
    await promise;
    clearTimeout(timer);
    gatherings.delete(round);
    return found;
  };
  cluster.on('message', (worker, { metricsWanted, metricsOf, own }: Message) => {
    if (metricsOf !== undefined && own !== undefined) gatherings.get(metricsOf)?.(own);
    if (metricsWanted === undefined) return;
    void gather()
      .then((found) => AggregatorRegistry.aggregate(found).metrics())
      .then((text) => sendMessage(worker, { metricsOf: metricsWanted, text }));
  });
}

function workersOf(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

/** Sending to a process that is exiting is not an error. */
function sendMessage(worker: Worker, message: Message): void {
  worker.send(message, () => undefined);
}
