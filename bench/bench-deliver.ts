import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateDkimKey } from '../src/sender/dkim-key.ts';
import { makeTemporaryFolder, startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { composeLetter } from './deliver/letter.ts';
import { openLetterAccount } from './deliver/letter-account.ts';
import {
  connections,
  measureService,
  medianRun,
  messagesPerSecond,
  processes,
  rateSince,
  type ServiceRun,
  startDelivering,
} from './deliver/measure-service.ts';
import { type Peer, startNodemailer } from './deliver/nodemailer-peer.ts';
import { findMissingPostfix, startPostfixPeer } from './deliver/postfix-peer.ts';
import { measureIdle } from './deliver/send-single.ts';
import { median } from './percentile.ts';

/** What each peer sends, about, so that all measurements last as long. */
const peerMessagesPerSecond: Readonly<Record<string, number>> = {
  nodemailer: 600,
  postfix: 800,
  'postfix+opendkim': 500,
};

/** `serve` empties a queue into a receiver, in turns with peers that send the same letter. */
export async function benchDeliver(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using folder = await makeTemporaryFolder();
  await using bench = await startBenchDatabase();
  using sink = await BenchSink.start();
  const key = await generateDkimKey('rsa-sha256');
  const shop = await openLetterAccount(bench.database, key);
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
  await using node = await startDelivering(bench, sink, options.nodeOptions);
  const idle = await measureIdle(node, sink, shop);
  const ours: ServiceRun[] = [];
  // A short round first: everyone loads code and opens connections.
  for (let round = -1; round < rounds; round += 1) {
    const length = round < 0 ? Math.min(2, seconds) : seconds;
    for (const { peer, rates } of sides) {
      const rate = await measurePeer(peer, sink, length);
      if (round >= 0) rates.push(rate);
    }
    const count = Math.round(messagesPerSecond * length);
    const run = await measureService({ bench, node, sink }, shop.id, count);
    if (round >= 0) ours.push(run);
  }
  const { rate, use } = medianRun(ours);
  const { p50_ms, p99_ms } = idle;
  const rows = sides.map(({ peer, rates }) =>
    makeResult(
      'deliver',
      { peer: peer.name, connections, processes, seconds, rounds },
      { rate, ceiling: median(rates), p50_ms, p99_ms, ...use },
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
