import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateDkimKey } from '../src/accounts/sender/dkim-key.ts';
import type { AccountId } from '../src/base/values/ids.ts';
import { createLog } from '../src/base/values/log.ts';
import { type BenchDatabase, makeTemporaryFolder, startBenchDatabase } from './bench-database.ts';
import {
  type BenchOptions,
  type BenchResult,
  makeResult,
  median,
  percentiles,
} from './bench-result.ts';
import { BenchSink, monotonicNow } from './deliver/bench-sink.ts';
import { composeLetter } from './deliver/letter.ts';
import {
  addLetterAccount,
  fillWhilePaused,
  openLetterAccount,
  resumeAccount,
} from './deliver/letter-account.ts';
import {
  connections,
  measureIdle,
  measureService,
  medianRun,
  messagesPerSecond,
  processes,
  rateSince,
  type ServiceRun,
  sendSingles,
  startDelivering,
} from './deliver/measure-service.ts';
import { type Peer, startNodemailer } from './deliver/nodemailer-peer.ts';
import { findMissingPostfix, startPostfixPeer } from './deliver/postfix-peer.ts';
import { openHistory } from './history/open-history.ts';
import { MemoryWatch } from './machine-use.ts';

const warmUpMessages = 4_000;
/** Approximate messages of each peer, so that all measurements take the same time. */
const peerMessagesPerSecond: Readonly<Record<string, number>> = {
  nodemailer: 600,
  postfix: 800,
  'postfix+opendkim': 500,
};

/** `serve` empties a queue into a receiver, alternating with peers that send the same letter. */
export async function benchDeliver(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using folder = await makeTemporaryFolder();
  await using bench = await startBenchDatabase();
  using sink = await BenchSink.start();
  const key = await generateDkimKey('rsa-sha256');
  const shop = await openLetterAccount(bench.database, { key });
  const keyFile = join(folder.path, 'dkim.pem');
  await writeFile(keyFile, key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const messageFile = join(folder.path, 'letter.eml');
  await writeFile(messageFile, await composeLetter());
  await using closing = new AsyncDisposableStack();
  const sides: { readonly peer: Peer; readonly rates: number[] }[] = [];
  const addPeer = (peer: Peer): void => {
    sides.push({ peer, rates: [] });
    closing.defer(() => peer.stop());
  };
  addPeer(await startNodemailer(sink.port, keyFile, connections));
  for (const name of ['postfix', 'postfix+opendkim'] as const) {
    const missing = await findMissingPostfix(name);
    const place = { folder: folder.path, sinkPort: sink.port, connections, messageFile, keyFile };
    if (missing === undefined) addPeer(await startPostfixPeer(name, place));
    else process.stderr.write(`${name} skipped: ${missing}\n`);
  }
  await using installation = await startDelivering(bench, sink, options.nodeOptions);
  const idle = await measureIdle(installation, shop);
  const ours: ServiceRun[] = [];
  // A short warm-up round, in which all load code and open connections.
  for (let round = -1; round < rounds; round += 1) {
    const length = round < 0 ? Math.min(2, seconds) : seconds;
    for (const { peer, rates } of sides) {
      const rate = await measurePeer(peer, sink, length);
      if (round >= 0) rates.push(rate);
    }
    const count = Math.round(messagesPerSecond * length);
    const run = await measureService(installation, shop.id, count);
    if (round >= 0) ours.push(run);
  }
  const run = medianRun(ours);
  const { p50_ms, p99_ms } = idle;
  const rows = sides.map(({ peer, rates }) =>
    makeResult(
      'deliver',
      { peer: peer.name, connections, processes, seconds, rounds },
      { ...run, ceiling: median(rates), p50_ms, p99_ms },
    ),
  );
  return [...rows, idle];
}

async function measurePeer(peer: Peer, sink: BenchSink, seconds: number): Promise<number> {
  const count = Math.round((peerMessagesPerSecond[peer.name] ?? 500) * seconds);
  await sink.reset();
  const sent = peer.send(count);
  await sink.waitForCount(count);
  const rate = rateSince(sink.first, count);
  await sent;
  return rate;
}

/** Delivering on a filled database, alternating with delivering on an empty one. Its account stays in the filled one. */
export async function benchHistory(options: BenchOptions): Promise<BenchResult[]> {
  const { history = 1_000_000, seconds, rounds, nodeOptions } = options;
  await using closing = new AsyncDisposableStack();
  const sink = closing.use(await BenchSink.start());
  const open = async (bench: BenchDatabase, id: AccountId) => {
    const installation = closing.use(await startDelivering(bench, sink, nodeOptions));
    const measure = (count: number) => measureService(installation, id, count);
    await measure(warmUpMessages);
    return () => measure(Math.round(seconds * messagesPerSecond));
  };
  const fresh = closing.use(await startBenchDatabase());
  const measureEmpty = await open(fresh, (await openLetterAccount(fresh.database)).id);
  const past = closing.use(await openHistory(history, createLog('warn'), options.historyFolder));
  const added = await addLetterAccount(past.database, past.shop, `bench-${Date.now()}`);
  const measureFilled = await open(past, added);
  const empty: ServiceRun[] = [];
  const filled: ServiceRun[] = [];
  for (let round = 0; round < rounds; round += 1) {
    filled.push(await measureFilled());
    empty.push(await measureEmpty());
  }
  const params = { finished: history, seconds, rounds };
  const rates = { ...medianRun(filled), ceiling: medianRun(empty).rate };
  return [makeResult('deliver-history', params, rates)];
}

/** While one account's long queue drains: another account's single messages, the rate, and the memory of `serve`. */
export async function benchBacklog(options: BenchOptions): Promise<BenchResult[]> {
  const { queued, seconds, nodeOptions } = options;
  await using bench = await startBenchDatabase();
  const { database } = bench;
  using sink = await BenchSink.start();
  const { id } = await openLetterAccount(database);
  const small = await openLetterAccount(database, { id: '46200' });
  await using installation = await startDelivering(bench, sink, nodeOptions);
  using memory = new MemoryWatch(installation.node);
  await measureService(installation, id, warmUpMessages);
  const short = await measureService(installation, id, Math.round(seconds * messagesPerSecond));
  const before = memory.readAndReset();
  await fillWhilePaused(database, id, queued);
  await sink.reset();
  await resumeAccount(database, id);
  await sink.waitForCount(1_000);
  const { taken } = sink;
  const started = monotonicNow();
  const plan = { count: queued, warmUp: 5, pauseMs: 100, seconds: seconds * 3 };
  const times = await sendSingles(installation, small, plan);
  const rate = ((sink.taken - taken) * 1_000) / (monotonicNow() - started);
  const during = memory.readAndReset();
  const rates = { rate, ceiling: short.rate };
  const memoryParams = {
    queued,
    short_queue_median_mb: before.median,
    short_queue_peak_mb: before.peak,
    median_mb: during.median,
    peak_mb: during.peak,
  };
  const fairness = { ...rates, ...percentiles(times) };
  return [
    makeResult('deliver-fair', { queued, singles: times.length }, fairness),
    makeResult('deliver-memory', memoryParams, rates),
  ];
}
