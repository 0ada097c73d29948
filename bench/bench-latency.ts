import { generateDkimKey } from '../src/sender/dkim-key.ts';
import { getToken, type Shop } from '../test/support/shop.ts';
import { openBenchAccount, wireRequests } from './bench-account.ts';
import { type BenchDatabase, startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { type BenchServiceOptions, startBenchService } from './bench-service.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { fillWhilePaused, openLetterAccount, resumeAccount } from './deliver/letter-account.ts';
import { measureCalm, measureUse } from './machine-use.ts';
import { runLoad } from './run-load.ts';
import { compare, Tally } from './tally.ts';

const connections = 128;
const shares = [0.25, 0.5, 0.75] as const;

/** More than the workers take in a second, so that they never run out of messages while something is measured. */
const deliveredPerSecond = 3_000;
/** As many have been taken when a measurement begins. */
const underWay = 100;

interface Scene {
  readonly database: BenchDatabase;
  readonly shop: Shop;
  readonly service: BenchServiceOptions;
}

/**
 * Latency at fixed rates, counted from when each request was due: a quarter, half and three quarters of the rate at which
 * accepting is saturated, beside a do-nothing POST at the same rate. The ratio is the one of the 99th percentiles.
 */
export async function benchLatency(options: BenchOptions): Promise<BenchResult[]> {
  await using database = await startBenchDatabase();
  const shop = await openBenchAccount(database.database);
  const service = { nodeOptions: options.nodeOptions };
  return await measureLatency(options, { database, shop, service }, shares, 'latency');
}

/**
 * Accepting and delivering together, in processes that do both: the rate of accepting while the workers deliver as fast as
 * they can; then latency at half that rate beside a do-nothing POST at the same rate, both while a queue is being delivered.
 */
export async function benchTogether(options: BenchOptions): Promise<BenchResult[]> {
  await using database = await startBenchDatabase();
  using sink = await BenchSink.start();
  const key = await generateDkimKey('rsa-sha256');
  const shop = await openLetterAccount(database.database, key);
  const smtpUrl = `smtp://127.0.0.1:${sink.port}?tls=off&connections=10&messages=100000`;
  const service = { nodeOptions: options.nodeOptions, roles: 'http,worker', smtpUrl };
  const scene = { database, shop, service };
  return await measureLatency(options, scene, [0.5], 'together', sink);
}

/**
 * Lets the workers at a queue of so many more messages, of which search and reports know already: what happens meanwhile is
 * what the requests that are measured bring about, and delivery.
 */
async function beginDelivery(
  { database: { database }, shop }: Scene,
  sink: BenchSink,
  count: number,
): Promise<void> {
  await fillWhilePaused(database, shop.id, count);
  await database.pool.query('vacuum analyze');
  const before = sink.taken;
  await resumeAccount(database, shop.id);
  await sink.waitForCount(before + underWay);
}

async function measureLatency(
  { seconds, rounds, calm }: BenchOptions,
  scene: Scene,
  parts: readonly number[],
  name: string,
  sink?: BenchSink,
): Promise<BenchResult[]> {
  const { database, shop } = scene;
  await using service = await startBenchService(database.url, scene.service);
  const origin = service;
  const token = await getToken(origin, shop);
  const wire = { accountIds: [shop.id], token };
  const pids = { service: service.pid, database: database.pid };
  /** @returns messages delivered meanwhile, a second */
  const measure = async (tally: Tally, path: string, rate?: number): Promise<number> => {
    const requests = wireRequests({ ...wire, path });
    const order = { port: service.port, connections, seconds, requests };
    let delivered = 0;
    const { result, use } = await measureCalm(calm, async () => {
      if (sink !== undefined) await beginDelivery(scene, sink, seconds * deliveredPerSecond);
      const taken = sink?.taken ?? 0;
      const started = performance.now();
      const run = () => runLoad(rate === undefined ? order : { ...order, rate });
      const measured = await measureUse(pids, run);
      delivered = ((sink?.taken ?? 0) - taken) / ((performance.now() - started) / 1_000);
      return measured;
    });
    tally.add(result, use);
    return delivered;
  };
  const params = { connections, fields: 10, seconds };
  const deliveries = (own: number, meanwhile: number): BenchResult['params'] =>
    sink === undefined
      ? {}
      : {
          delivered_per_second: Math.round(own),
          ceiling_delivered_per_second: Math.round(meanwhile),
        };
  await measure(new Tally(), '/ete/v1/email');
  const saturated = new Tally();
  const ceiling = new Tally();
  const own = await measure(saturated, '/ete/v1/email');
  const meanwhile = await measure(ceiling, '/bench/nothing');
  const results: BenchResult[] = [
    {
      name,
      params: { ...params, rounds: 1, at: 'saturation', ...deliveries(own, meanwhile) },
      ...compare(saturated, ceiling),
    },
  ];
  for (const part of parts) {
    const rate = saturated.rate * part;
    const ours = new Tally();
    const nothing = new Tally();
    let [own, meanwhile] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      meanwhile += await measure(nothing, '/bench/nothing', rate);
      own += await measure(ours, '/ete/v1/email', rate);
    }
    const line = compare(ours, nothing);
    const ratio = Number((line.p99_ms / line.ceiling_p99_ms).toFixed(2));
    const at = { rounds, at: `${part * 100}%`, ...deliveries(own / rounds, meanwhile / rounds) };
    results.push({ name, params: { ...params, ...at }, ...line, ratio });
  }
  return results;
}
