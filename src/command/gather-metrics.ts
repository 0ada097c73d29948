import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, Gauge, type MetricObject, type Registry } from 'prom-client';

/** Milliseconds after which the answer goes without the processes that have not said theirs. */
const metricsTimeoutMs = 2_000;

/** What a process asks of the first one, and the first one of all: the numbers for request `want`. */
interface MetricsRequest {
  readonly metricsWanted: number;
}
/** A process’s own numbers, or to the one that asked, everybody’s as text. */
interface MetricsResponse {
  readonly metricsOf: number;
  readonly own?: MetricObject[];
  readonly text?: string;
}
type Message = Partial<MetricsRequest & MetricsResponse>;

/**
 * In one of several processes that share a port: says its own numbers whenever the first process asks for them.
 * @returns what answers `/metrics`: the sum over all processes, from the first one; this process's own where that one
 *   does not answer in time
 */
export function shareMetrics(own: Registry): () => Promise<string> {
  const waiting = new Map<number, (text: string) => void>();
  let last = 0;
  const processes = new Gauge({
    name: 'signalpost_processes',
    help: 'Processes of this node that the numbers are of',
    registers: [own],
  });
  processes.set(1);
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
    const asked = last;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(resolve, 2 * metricsTimeoutMs, undefined);
    waiting.set(asked, resolve);
    process.send?.({ metricsWanted: asked } satisfies MetricsRequest);
    const text = await promise;
    clearTimeout(timer);
    waiting.delete(asked);
    return text ?? own.metrics();
  };
}

/** In the first process: answers each process that asks with the sum of the numbers of all. */
export function gatherMetrics(): void {
  const gatherings = new Map<number, (own: MetricObject[]) => void>();
  let last = 0;
  const gather = async (): Promise<MetricObject[][]> => {
    last += 1;
    const round = last;
    const asked = workersOf().filter((worker) => worker.isConnected());
    const found: MetricObject[][] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, metricsTimeoutMs);
    gatherings.set(round, (own) => {
      found.push(own);
      if (found.length >= asked.length) resolve();
    });
    for (const worker of asked) sendMessage(worker, { metricsWanted: round });
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

/** One that is just dying hears nothing, which is no error. */
function sendMessage(worker: Worker, message: Message): void {
  worker.send(message, () => undefined);
}
