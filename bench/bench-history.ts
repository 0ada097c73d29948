import type { AccountId } from '../src/foundation/ids.ts';
import { createLog } from '../src/foundation/log.ts';
import { generateDkimKey } from '../src/sender/dkim-key.ts';
import { type BenchDatabase, startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { addLetterAccount, openLetterAccount } from './deliver/letter-account.ts';
import {
  measureService,
  medianRun,
  messagesPerSecond,
  type ServiceRun,
  startDelivering,
} from './deliver/measure-service.ts';
import { openHistory } from './history/open-history.ts';

/** Delivering on a filled database, in turns with delivering on an empty one. The added account stays in the first. */
export async function benchHistory(options: BenchOptions): Promise<BenchResult[]> {
  const { history = 1_000_000, seconds, rounds, nodeOptions } = options;
  await using closing = new AsyncDisposableStack();
  const sink = closing.use(await BenchSink.start());
  const key = await generateDkimKey('rsa-sha256');
  const open = async (bench: BenchDatabase, id: AccountId) => {
    const node = closing.use(await startDelivering(bench, sink, nodeOptions));
    const measure = (count: number) => measureService({ bench, node, sink }, id, count);
    await measure(4_000);
    return () => measure(Math.round(seconds * messagesPerSecond));
  };
  const fresh = closing.use(await startBenchDatabase());
  const measureEmpty = await open(fresh, (await openLetterAccount(fresh.database, key)).id);
  const past = closing.use(await openHistory(history, createLog('warn'), options.historyFolder));
  const id = `bench-${Date.now()}`;
  const measureFilled = await open(past, await addLetterAccount(past.database, key, past.shop, id));
  const empty: ServiceRun[] = [];
  const filled: ServiceRun[] = [];
  for (let round = 0; round < rounds; round += 1) {
    filled.push(await measureFilled());
    empty.push(await measureEmpty());
  }
  const { rate, use } = medianRun(filled);
  const rates = { rate, ceiling: medianRun(empty).rate };
  return [
    makeResult('deliver-history', { finished: history, seconds, rounds }, { ...rates, ...use }),
  ];
}
