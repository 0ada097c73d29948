import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import type { Database } from '../src/base/database/open-database.ts';
import { createLog } from '../src/base/values/log.ts';
import { minIdAt } from '../src/base/values/uuid7.ts';
import { addKey } from '../test/support/api-key.ts';
import { getToken, type Shop } from '../test/support/shop.ts';
import { distinctBody, openBench, openBenchAccount, openLoad } from './bench-account.ts';
import { type BenchDatabase, countRows, startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { copyRows, multiplyAccounts } from './copy-rows.ts';
import { type History, openHistory } from './history/open-history.ts';
import { readResident } from './machine-use.ts';
import { compare, loadConnections as connections, takeTurns } from './tally.ts';

/** Accepting for the largest account of a filled database, alternating with accepting on an empty one. */
export async function benchAcceptHistory(options: BenchOptions): Promise<BenchResult[]> {
  const { history = 10_000_000, seconds, rounds } = options;
  await using closing = new AsyncDisposableStack();
  const open = async (database: BenchDatabase, shop: Shop) => {
    const service = closing.use(await startBenchService(database, { ...options, processes: 1 }));
    return openLoad({ service, shop, token: await getToken(service, shop) });
  };
  const fresh = closing.use(await startBenchDatabase());
  const empty = await open(fresh, await openBenchAccount(fresh.database));
  const past = closing.use(await openHistory(history, createLog('warn'), options.historyFolder));
  const since = minIdAt(new Date());
  closing.defer(() => deleteAcceptedSince(past, since));
  const filled = await open(past, past.shop);
  await takeTurns([filled, empty], options);
  const params = { connections, stored: history, seconds, rounds };
  return [makeResult('accept-history', params, compare(filled, empty))];
}

async function deleteAcceptedSince({ database, shop }: History, since: string): Promise<void> {
  for (const rows of ['queued_delivery where message_id', 'message where id'])
    await database.pool.query(`delete from ${rows} >= $2 and account_id = $1`, [shop.id, since]);
}

const storedKeys = 1_000_000;
const chunkSize = 20_000;

/** Accepting with one of a million API keys, alternating with an access token: at a ratio of 1, keys cost nothing extra. */
export async function benchApiKey(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using bench = await openBench({ ...options, processes: 1 });
  const key = await storeKeys(bench.database, bench.shop);
  const byToken = openLoad(bench);
  const byKey = openLoad(bench, { token: key });
  await takeTurns([byToken, byKey], options);
  const params = { stored: storedKeys, connections, fields: 10, seconds, rounds };
  return [makeResult('key', params, compare(byKey, byToken))];
}

/** Creates a million keys of the shop and of other accounts. @returns the newest */
async function storeKeys(database: Database, shop: Shop): Promise<string> {
  const sending = { scopes: ['messages:send'] } as const;
  const ids = await multiplyAccounts(database, shop, 1_000);
  await addKey(database, shop.id, sending);
  for (let from = 1; from < storedKeys - 1; from += chunkSize) {
    const until = Math.min(storedKeys - 2, from + chunkSize - 1);
    await copyRows(database, {
      table: 'api_key',
      where: sql`one.name = 'Test'`,
      times: sql`generate_series(${from}::int, ${until}::int)`,
      columns: {
        account_id: sql`(${ids}::text[])[1 + copy % 1000]`,
        id: sql`gen_random_uuid()`,
        hash: sql`sha256(convert_to('bench ' || copy, 'UTF8'))`,
        name: sql`'Bench'`,
      },
    });
  }
  await database.pool.query('analyze api_key');
  return addKey(database, shop.id, sending);
}

const messagesPerBatch = 100;
const batchConnections = 16;

/** Messages a second in batches of 100, alternating with single requests. Checks afterwards that all are in the database. */
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
  const line = compare(batch, single);
  const rate = line.rate * messagesPerBatch;
  return [makeResult('batch', params, { ...line, rate, ratio: rate / line.ceiling })];
}

function makeBatch(number: number): string {
  const bodies = Array.from({ length: messagesPerBatch }, (_, index) =>
    distinctBody(number * messagesPerBatch + index),
  );
  return `{"messages":[${bodies.join(',')}]}`;
}

const idleConnections = 10_000;
const batchSize = 100;

/** Accepting beside 10,000 idle connections, alternating with accepting without them. */
export async function benchIdleConnections(options: BenchOptions): Promise<BenchResult[]> {
  await using bench = await openBench({ ...options, processes: 1 });
  const { port, pid } = bench.service;
  const [alone, among] = [openLoad(bench), openLoad(bench)];
  await alone.run(options.seconds);
  let held = 0;
  for (let round = 0; round < options.rounds; round += 1) {
    await alone.measure(options);
    const before = readResident([pid]).get(pid) ?? 0;
    const idle = await openIdle(port);
    held = Math.max(held, (readResident([pid]).get(pid) ?? 0) - before);
    await among.measure(options);
    const closed = idle.filter((socket) => socket.destroyed || socket.readableEnded).length;
    if (closed > 0) throw new Error(`${closed} of ${idle.length} idle connections were closed`);
    await Promise.all(idle.map((socket) => once(socket.destroy(), 'close')));
  }
  const params = { connections, idle: idleConnections, held_mib: Math.round(held) };
  return [makeResult('idle-connections', params, compare(among, alone))];
}

async function openIdle(port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < idleConnections)
    sockets.push(...(await Promise.all(Array.from({ length: batchSize }, () => askOnce(port)))));
  return sockets;
}

async function askOnce(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  const [response] = (await once(socket, 'data')) as [Buffer];
  const text = response.toString('latin1');
  if (!text.startsWith('HTTP/1.1 200')) throw new Error(`/healthz: ${text.slice(0, 40)}`);
  return socket;
}
