import { getToken } from '../test/support/shop.ts';
import { distinctBody, openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import type { LoadOrder, LoadReport } from './load-generator.ts';
import { runLoad } from './run-load.ts';
import { compare, Tally } from './tally.ts';

const messagesPerBatch = 100;
const distinctBatches = 100;
const singleConnections = 128;
const batchConnections = 8;

/**
 * Messages a second in batches of 100, beside single requests of the same messages, measured in turns so that both meet the
 * same machine. Every accepted message is looked for in the database afterwards.
 */
export async function benchBatch(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds, calm, nodeOptions } = options;
  await using bench = await startBenchDatabase();
  const { url, database, pid } = bench;
  const shop = await openBenchAccount(database);
  await using service = await startBenchService(url, { nodeOptions, processes: 1 });
  const token = await getToken(service, shop);
  const pids = { service: service.pid, database: pid };
  const { port } = service;
  const accountIds = [shop.id];
  const singles = wireRequests({ path: '/ete/v1/email', accountIds, token });
  const batches = wireBatches(shop.id, token);
  let accepted = 0;
  const sendSingles = async (length: number): Promise<LoadReport> => {
    const order = { port, connections: singleConnections, seconds: length, requests: singles };
    const report = await runLoad(order);
    accepted += report.answered;
    return report;
  };
  const sendBatches = async (length: number): Promise<LoadReport> => {
    const order = { port, connections: batchConnections, seconds: length, requests: batches };
    const report = await runLoad(order);
    accepted += report.answered * messagesPerBatch;
    return { ...report, answered: report.answered * messagesPerBatch };
  };
  await sendSingles(seconds / 2);
  await sendBatches(seconds / 2);
  const single = new Tally();
  const batch = new Tally();
  for (let round = 0; round < rounds; round += 1) {
    await single.measure(calm, pids, () => sendSingles(seconds));
    await batch.measure(calm, pids, () => sendBatches(seconds));
  }
  const { rows } = await database.pool.query<{ stored: number }>(
    'select count(*)::int as stored from message',
  );
  const stored = rows[0]?.stored;
  if (stored !== accepted) throw new Error(`${accepted} sent, ${stored} stored`);
  const params = { messagesPerBatch, batchConnections, singleConnections, seconds, rounds };
  return [{ name: 'batch', params, ...compare(batch, single) }];
}

/** Batches as they go over the wire, of messages like those of `wireRequests`. */
function wireBatches(accountId: string, token: string): LoadOrder['requests'] {
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
