import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { acceptRequests, openBenchAccount } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { readResident } from './machine-use.ts';
import { runLoad } from './run-load.ts';
import { compare, Tally } from './tally.ts';

const connections = 128;
const idleConnections = 10_000;
const batchSize = 100;

/**
 * Accepting while 10,000 other connections, each of which has asked once, are open and say nothing, beside accepting
 * without them. All must still be there afterwards.
 */
export async function benchIdleConnections(options: BenchOptions): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const shop = await openBenchAccount(bench.database);
  const { nodeOptions, seconds, calm } = options;
  await using service = await startBenchService(bench.url, { nodeOptions, processes: 1 });
  const { port } = service;
  const requests = await acceptRequests(service, shop);
  const pids = { service: service.pid, database: bench.pid };
  const load = () => runLoad({ port, connections, seconds, requests });
  const resident = () => (readResident([service.pid]).get(service.pid) ?? 0) / 2 ** 20;
  await load();
  const alone = new Tally();
  const among = new Tally();
  let held = 0;
  for (let round = 0; round < options.rounds; round += 1) {
    await alone.measure(calm, pids, load);
    const before = resident();
    const idle = await openIdle(port);
    held = Math.max(held, resident() - before);
    await among.measure(calm, pids, load);
    const gone = idle.filter((socket) => socket.destroyed || socket.readableEnded).length;
    if (gone > 0) throw new Error(`${gone} of ${idle.length} idle connections are gone`);
    await Promise.all(idle.map((socket) => once(socket.destroy(), 'close')));
  }
  const params = { connections, idle: idleConnections, held_mib: Math.round(held) };
  return [{ name: 'idle-connections', params, ...compare(among, alone) }];
}

async function openIdle(port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < idleConnections)
    sockets.push(...(await Promise.all(Array.from({ length: batchSize }, () => askOnce(port)))));
  return sockets;
}

/** A connection whose first request is answered and that has no second one. */
async function askOnce(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200'))
    throw new Error(`answered ${answer.toString('latin1').slice(0, 40)}`);
  return socket;
}
