import { getToken } from '../test/support/shop.ts';
import { distinctBody, openAcceptLoad, openBenchAccount } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { compare, LoadTally } from './tally.ts';

const messagesPerBatch = 100;
const distinctBatches = 100;
const batchConnections = 8;

/**
 * Messages a second in batches of 100, beside single requests of the same messages, measured in turns so that both meet the
 * same machine. Every accepted message is looked for in the database afterwards.
 */
export async function benchBatch(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using bench = await startBenchDatabase();
  const { database } = bench;
  const shop = await openBenchAccount(database);
  await using service = await startBenchService(bench, { ...options, processes: 1 });
  const token = await getToken(service, shop);
  const single = await openAcceptLoad(service, shop, token);
  const requests = wireBatches(shop.id, token);
  const batch = new LoadTally(service, { connections: batchConnections, requests });
  await single.run(seconds / 2);
  await batch.run(seconds / 2);
  for (let round = 0; round < rounds; round += 1) {
    await single.measure(options);
    await batch.measure(options);
  }
  const { rows } = await database.pool.query<{ stored: number }>(
    'select count(*)::int as stored from message',
  );
  const accepted = single.totalAnswered + batch.totalAnswered * messagesPerBatch;
  const stored = rows[0]?.stored;
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

/** Batches as they go over the wire, of messages like those of `wireRequests`. */
function wireBatches(accountId: string, token: string): string[] {
  return Array.from({ length: distinctBatches }, (_, batch) => {
    const bodies = Array.from({ length: messagesPerBatch }, (_, index) =>
      distinctBody(batch * messagesPerBatch + index),
    );
    const body = `{"messages":[${bodies.join(',')}]}`;
    return [
      `POST /ete/v1/email/${accountId}/t-0001/batch HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n');
  });
}
