import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDkimKey } from '../src/sender/dkim-key.ts';
import { openShop, publishTemplate } from '../test/support/shop.ts';
import { type BenchDatabase, startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { type BenchSink, startBenchSink } from './deliver/bench-sink.ts';
import { fillQueue } from './deliver/fill-queue.ts';
import { letter } from './deliver/letter.ts';

const connections = 20;

/** Messages sent one by one to an idle worker. */
const idleMessages = 200;

/**
 * Accepted to delivered: rendered, signed with RSA-2048, every dot and outcome flushed to the database. Beside it, in
 * turns to the same sink, a stock Nodemailer pool that composes and signs the same message and stores nothing. The
 * percentiles are of single messages on an idle worker: from before the commit that stores one to its final dot.
 */
export async function benchDeliver(options: BenchOptions): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'signalpost-bench-'));
  const keyFile = join(folder, 'dkim.pem');
  const key = await makeDkimKey('rsa-sha256');
  await writeFile(keyFile, key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const database = await startBenchDatabase();
  const sink = await startBenchSink();
  try {
    const shop = await openShop(database.database);
    await publishTemplate(database.database, shop, {
      id: 'bench',
      sender: 'orders@shop.test',
      source: letter,
    });
    await database.database.pool.query(
      `update template_version v set compiled = b.compiled from template_version b
       where v.template_id = 't-0001' and b.template_id = 'bench'`,
    );
    const ours: number[] = [];
    const theirs: number[] = [];
    const count = Math.max(1_000, Math.round(options.seconds * 1_000));
    for (let round = 0; round < options.rounds; round += 1) {
      theirs.push(await measureNodemailer(sink, keyFile, count));
      ours.push(await measureWorker(database, sink, shop.id, keyFile, count, options.nodeOptions));
    }
    const idle = await measureIdle(database, sink, shop.id, keyFile);
    const rate = median(ours);
    const ceiling = median(theirs);
    return [
      {
        name: 'deliver',
        params: { peer: 'nodemailer', connections, messages: count },
        rate: Math.round(rate),
        ceiling: Math.round(ceiling),
        ratio: rate / ceiling,
        p50_ms: percentile(idle, 0.5),
        p99_ms: percentile(idle, 0.99),
      },
    ];
  } finally {
    sink.stop();
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureWorker(
  database: BenchDatabase,
  sink: BenchSink,
  accountId: string,
  keyFile: string,
  count: number,
  nodeOptions: readonly string[],
): Promise<number> {
  await fillQueue(database.database, accountId, count);
  await database.database.pool.query('vacuum analyze queue_entry, message');
  const child = await startChild(
    'bench-worker.ts',
    [
      database.url,
      `smtp://127.0.0.1:${sink.port}?tls=off&connections=${connections}&messages=100000`,
      keyFile,
    ],
    nodeOptions,
  );
  const rate = await timed(child, sink, count, () => untilQueueIsEmpty(database));
  const exit = once(child, 'exit');
  child.send('stop');
  await exit;
  return rate;
}

async function measureIdle(
  database: BenchDatabase,
  sink: BenchSink,
  accountId: string,
  keyFile: string,
): Promise<number[]> {
  const child = await startChild('bench-worker.ts', [
    database.url,
    `smtp://127.0.0.1:${sink.port}?tls=off&connections=${connections}&messages=100000`,
    keyFile,
  ]);
  child.send('start');
  const times: number[] = [];
  for (let number = 0; number < idleMessages + 20; number += 1) {
    const target = sink.taken() + 1;
    const started = performance.now();
    await fillQueue(database.database, accountId, 1);
    child.send('wake');
    await sink.reaches(target);
    // The first ones load code and open the connection.
    if (number >= 20) times.push(performance.now() - started);
    await untilQueueIsEmpty(database);
  }
  const exit = once(child, 'exit');
  child.send('stop');
  await exit;
  return times;
}

async function untilQueueIsEmpty(database: BenchDatabase): Promise<void> {
  for (;;) {
    const { rows } = await database.database.pool.query('select from queue_entry limit 1');
    if (rows.length === 0) return;
  }
}

async function measureNodemailer(sink: BenchSink, keyFile: string, count: number): Promise<number> {
  const child = await startChild('bench-nodemailer.ts', [
    String(sink.port),
    keyFile,
    String(count),
    String(connections),
  ]);
  const exit = once(child, 'exit');
  const rate = await timed(child, sink, count, async () => undefined);
  await exit;
  return rate;
}

/** Messages a second from the start until the sink took all and `settled` resolved. */
async function timed(
  child: ChildProcess,
  sink: BenchSink,
  count: number,
  settled: () => Promise<void>,
): Promise<number> {
  const target = sink.taken() + count;
  const started = performance.now();
  child.send('start');
  await sink.reaches(target);
  await settled();
  return (count * 1_000) / (performance.now() - started);
}

async function startChild(
  file: string,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'deliver', file), [...args], {
    execArgv: ['--disable-warning=ExperimentalWarning', ...nodeOptions],
  });
  await once(child, 'message');
  return child;
}

function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

function percentile(numbers: readonly number[], part: number): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length * part)] ?? 0;
}
