import type { AccountId } from '../src/foundation/ids.ts';
import { createLog } from '../src/foundation/log.ts';
import { generateDkimKey } from '../src/sender/dkim-key.ts';
import { type BenchDatabase, startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { connections, processes } from './deliver/bench-connections.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { addLetterAccount, openLetterAccount } from './deliver/letter-account.ts';
import { measureService, medianRun, type ServiceRun } from './deliver/measure-service.ts';
import { startServe } from './deliver/start-serve.ts';
import { openHistory } from './history/open-history.ts';

const defaultHistory = 1_000_000;

/**
 * The rate of delivery on a database that holds so many finished messages, beside that on an empty one, in turns. The
 * filled database stays for the next time, with the account that this run adds to it.
 */
export async function benchHistory(options: BenchOptions): Promise<BenchResult[]> {
  const { history = defaultHistory, seconds, rounds, nodeOptions } = options;
  await using closing = new AsyncDisposableStack();
  const sink = closing.use(await BenchSink.start());
  const key = await generateDkimKey('rsa-sha256');
  const open = async (database: BenchDatabase, id: AccountId) => {
    const node = closing.use(
      await startServe(database.url, sink.port, connections / processes, nodeOptions),
    );
    const measure = (count: number) => measureService({ database, node, sink }, id, count);
    await measure(4_000);
    return () => measure(Math.round(seconds * 2_000));
  };
  const fresh = closing.use(await startBenchDatabase());
  const empty = await open(fresh, (await openLetterAccount(fresh.database, key)).id);
  const past = closing.use(await openHistory(history, createLog('warn'), options.historyFolder));
  const id = `bench-${Date.now()}`;
  const filled = await open(past, await addLetterAccount(past.database, key, past.shop, id));
  const rates = { empty: [] as ServiceRun[], filled: [] as ServiceRun[] };
  for (let round = 0; round < rounds; round += 1) {
    rates.filled.push(await filled());
    rates.empty.push(await empty());
  }
  const { rate, use } = medianRun(rates.filled);
  const ceiling = medianRun(rates.empty).rate;
  return [
    {
      name: 'deliver-history',
      params: { finished: history, seconds, rounds },
      rate: Math.round(rate),
      ceiling: Math.round(ceiling),
      ratio: rate / ceiling,
      p50_ms: 0,
      p99_ms: 0,
      ...use,
    },
  ];
}
