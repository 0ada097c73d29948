import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { acceptRequests, openBenchAccount } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { readResident } from './machine-use.ts';
import { compare, LoadTally, loadConnections } from './tally.ts';

const idleConnections = 10_000;
const batchSize = 100;

/** Accepting beside 10,000 idle connections, in turns with accepting without them. */
export async function benchIdleConnections(options: BenchOptions): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const shop = await openBenchAccount(bench.database);
  await using service = await startBenchService(bench, { ...options, processes: 1 });
  const { port, pid } = service;
  const requests = await acceptRequests(service, shop);
  const alone = new LoadTally(service, { requests });
  const among = new LoadTally(service, { requests });
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
  const params = {
    connections: loadConnections,
    idle: idleConnections,
    held_mib: Math.round(held),
  };
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
  const [answer] = (await once(socket, 'data')) as [Buffer];
  const text = answer.toString('latin1');
  if (!text.startsWith('HTTP/1.1 200')) throw new Error(`/healthz: ${text.slice(0, 40)}`);
  return socket;
}
