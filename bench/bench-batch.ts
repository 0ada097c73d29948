import { distinctBody, openBench, openLoad } from './bench-account.ts';
import { countRows } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { compare, takeTurns } from './tally.ts';

const messagesPerBatch = 100;
const batchConnections = 8;

/** Messages a second in batches of 100, in turns with single requests. All are looked for in the database afterwards. */
export async function benchBatch(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using bench = await openBench({ ...options, processes: 1 });
  const single = openLoad(bench);
  const batch = openLoad(bench, {
    connections: batchConnections,
    operation: 't-0001/batch',
    count: 100,
    makeBody: makeBatch,
  });
  await takeTurns([single, batch], options);
  const accepted = single.totalAnswered + batch.totalAnswered * messagesPerBatch;
  const stored = await countRows(bench.database, 'message');
  if (stored !== accepted) throw new Error(`${accepted} sent, ${stored} stored`);
  const params = { messagesPerBatch, batchConnections, seconds, rounds };
  const { rate, ratio = 0, ...compared } = compare(batch, single);
  return [
    makeResult('batch', params, {
      ...compared,
      rate: rate * messagesPerBatch,
      ratio: ratio * messagesPerBatch,
    }),
  ];
}

function makeBatch(number: number): string {
  const bodies = Array.from({ length: messagesPerBatch }, (_, index) =>
    distinctBody(number * messagesPerBatch + index),
  );
  return `{"messages":[${bodies.join(',')}]}`;
}
