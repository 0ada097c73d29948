import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Fault } from '../../base/values/errors.ts';
import { toFault } from '../../host/http/answer-fault.ts';

/** Messages of a batch that are sent at the same time; a commit takes them together. */
const defaultConcurrency = 20;

/** Milliseconds after which other work gets a turn: reading a large message takes some. */
const maxTurnMs = 4;

/** Does something with each, and gives its result or why it failed, in order. */
export async function forEach<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
  concurrency = defaultConcurrency,
): Promise<(Result | Fault)[]> {
  const results: (Result | Fault)[] = [];
  let turnEnd = performance.now() + maxTurnMs;
  for (let start = 0; start < items.length; start += concurrency) {
    const begun: Promise<Result | Fault>[] = [];
    for (const [index, item] of items.slice(start, start + concurrency).entries()) {
      if (performance.now() > turnEnd) {
        await nextTurn();
        turnEnd = performance.now() + maxTurnMs;
      }
      begun.push(work(item, start + index).catch(toFault));
    }
    results.push(...(await Promise.all(begun)));
  }
  return results;
}
