import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateDkimKey } from '../src/sender/dkim-key.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { connections, processes } from './deliver/bench-connections.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { openLetterAccount } from './deliver/letter-account.ts';
import { measureIdle } from './deliver/measure-idle.ts';
import {
  measureService,
  medianRun,
  rateSince,
  type ServiceRun,
} from './deliver/measure-service.ts';
import { startNodemailer } from './deliver/nodemailer-peer.ts';
import type { MissingPeer, Peer } from './deliver/peer.ts';
import { findMissingPostfix, startPostfixPeer } from './deliver/postfix-peer.ts';
import { startServe } from './deliver/start-serve.ts';
import { writeLetterFile } from './deliver/write-letter-file.ts';
import { median } from './median.ts';

/** Messages of one measurement for each of its seconds: about what each side can do, so that it lasts so long. */
const messagesPerSecond = {
  ours: 2_000,
  nodemailer: 600,
  postfix: 800,
  'postfix+opendkim': 500,
} as const;

/**
 * Accepted to delivered: an installation as `serve` runs it, with a process for each core, empties a queue into a receiver.
 * Beside it, in turns, to the same receiver and over as many connections: a stock Nodemailer pool that composes and signs
 * the same message and stores nothing, and where they are installed Postfix that relays the unsigned message, alone and
 * with OpenDKIM. A rate counts from the first message that the receiver took until it has all, and for the service until
 * all outcomes are written besides.
 */
export async function benchDeliver(options: BenchOptions): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'signalpost-bench-'));
  // Postfix's processes are of another user.
  await chmod(folder, 0o711);
  await using folders = new AsyncDisposableStack();
  folders.defer(() => rm(folder, { recursive: true, force: true }));
  await using database = await startBenchDatabase();
  using sink = await BenchSink.start();
  const peers: Peer[] = [];
  await using closingPeers = new AsyncDisposableStack();
  closingPeers.defer(async () => {
    for (const peer of peers) await peer.stop();
  });
  const key = await generateDkimKey('rsa-sha256');
  const shop = await openLetterAccount(database.database, key);
  const keyFile = join(folder, 'dkim.pem');
  await writeFile(keyFile, key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const messageFile = await writeLetterFile(join(folder, 'letter.eml'));
  peers.push(await startNodemailer(sink.port, keyFile, connections));
  for (const name of ['postfix', 'postfix+opendkim'] as const) {
    const missing = await findMissingPostfix(name);
    if (missing !== undefined) printMissingPeer(missing);
    else {
      const place = { folder, sinkPort: sink.port, connections, messageFile, keyFile };
      peers.push(await startPostfixPeer(place, name !== 'postfix'));
    }
  }
  await using node = await startServe(
    database.url,
    sink.port,
    connections / processes,
    options.nodeOptions,
  );
  const idle = await measureIdle(node, sink, shop);
  const ours: ServiceRun[] = [];
  const rates = new Map<string, number[]>();
  const recordRate = (name: string, rate: number): void => {
    rates.set(name, [...(rates.get(name) ?? []), rate]);
  };
  // One short round lets everybody load code and open connections.
  for (let round = -1; round < options.rounds; round += 1) {
    const seconds = round < 0 ? Math.min(2, options.seconds) : options.seconds;
    for (const peer of peers) {
      const rate = await measurePeer(peer, sink, seconds);
      if (round >= 0) recordRate(peer.name, rate);
    }
    const count = Math.round(messagesPerSecond.ours * seconds);
    const run = await measureService({ database, node, sink }, shop.id, count);
    if (round >= 0) ours.push(run);
  }
  const { rate, use } = medianRun(ours);
  return [
    ...peers.map(({ name }) => {
      const ceiling = median(rates.get(name) ?? []);
      const { seconds, rounds } = options;
      return {
        name: 'deliver',
        params: { peer: name, connections, processes, seconds, rounds },
        rate: Math.round(rate),
        ceiling: Math.round(ceiling),
        ratio: rate / ceiling,
        p50_ms: idle.p50_ms,
        p99_ms: idle.p99_ms,
        ...use,
      };
    }),
    idle,
  ];
}

async function measurePeer(peer: Peer, sink: BenchSink, seconds: number): Promise<number> {
  const count = Math.round(
    (messagesPerSecond[peer.name as keyof typeof messagesPerSecond] ?? 500) * seconds,
  );
  await sink.reset();
  const sent = peer.send(count);
  await sink.waitForCount(count);
  const rate = rateSince(sink.first, count);
  await sent;
  return rate;
}

function printMissingPeer({ name, missing }: MissingPeer): void {
  process.stderr.write(`without a row for ${name}: ${missing}\n`);
}
