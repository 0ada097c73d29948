import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedDatabase } from '../../src/embedded-database/start-embedded-database.ts';
import { migrate } from '../../src/foundation/database/migrate.ts';
import { type Database, openDatabase } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { QueueControlStore } from '../../src/queue/control-store.ts';
import { getToken } from '../../test/support/shop.ts';
import { openSmallDisk } from '../../test/support/small-disk.ts';
import { openBenchAccount } from '../bench-account.ts';
import { ChaosFaults, type FaultName, faultNames } from './chaos-faults.ts';
import { type ChaosLoad, startChaosLoad } from './chaos-load.ts';
import { ChaosNode } from './chaos-node.ts';
import { evaluateChaos } from './evaluate-chaos.ts';
import { type ChaosSink, startChaosSink } from './sink.ts';

/**
 * `npm run chaos -- --minutes N --json FILE`: load on two nodes of two processes and one database, a receiver that
 * misbehaves, and every few seconds something worse at random: kill -9 of a node, of one of its processes or of the
 * database, SIGTERM, SIGSTOP longer than a lease, a database that hangs, a full disk, a relay that is rude to everyone.
 * Then each message that was answered with 200 is matched with what the receiver recorded. Ends with 1 where one was
 * lost, or came twice without being recorded as uncertain. `--only 'kill node' --every 10` does one fault only, at a
 * steady pace.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    json: { type: 'string' },
    nodes: { type: 'string', default: '2' },
    rate: { type: 'string', default: '40' },
    every: { type: 'string', default: '6' },
    only: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const only = faultNames.find((name) => name === values.only);
if (values.only !== undefined && only === undefined)
  throw new Error(`--only knows ${faultNames.join(', ')}`);

const disk = await openSmallDisk();
const silent = { info: () => undefined, warn: () => undefined };
const embedded = await startEmbeddedDatabase({ dataDir: disk.path, log: silent });
const { host, port, user, password, database: name } = embedded.settings;
const url = new URL(`postgres://localhost:${port}/${name}`);
url.username = user;
url.password = password;
url.searchParams.set('host', host);
const database = openDatabase({ url: url.href }, { maxConnections: 3 });
await migrate(database);
const shop = await openBenchAccount(database);
const sink = await startChaosSink();
const nodes = Array.from(
  { length: Number(values.nodes) },
  () => new ChaosNode(url.href, sink.port),
);
const running = nodes.map((node) => node.run());
const faults = new ChaosFaults({ nodes, disk, sink }, only as FaultName | undefined);
let load: ChaosLoad | undefined;
try {
  while (nodes.some((node) => node.url === undefined)) await delay(50);
  const token = await getToken({ url: nodes[0]?.url ?? '' }, shop);
  load = startChaosLoad(nodes, `/ete/v1/email/${shop.id}/t-0001`, token, Number(values.rate));
  print(`${nodes.length} nodes, ${values.rate} messages a second, ${minutes} minutes`);
  if (!disk.canFill)
    print('the disk is never full: only root may give the database one of its own');
  await faults.run(Date.now() + minutes * 60_000, Number(values.every) * 1_000);
  await load.stop();
  const stillWaiting = await drain(database, shop.id);
  const verdict = await evaluateChaos(database, shop.id, load.accepted, sink.received);
  const result = {
    ...verdict,
    kills: faults.kills,
    faults: faults.counts,
    weather: faults.weather,
    unanswered: load.unanswered(),
    refused: load.refused.size,
    refusedButSent: refusedButSent(load.refused, sink),
    stillWaiting,
    nodes: nodes.length,
    minutes,
  };
  print(JSON.stringify(result, null, 2));
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify(result, null, 2)}\n`);
  process.exitCode = verdict.lost === 0 && verdict.doubled === 0 ? 0 : 1;
} finally {
  await Promise.all(nodes.map((node) => node.end()));
  await Promise.all(running);
  sink.stop();
  await database.close();
  await embedded.stop();
  await disk.remove();
}

/** Requests that were answered with an error although their message was sent. */
function refusedButSent(refused: ReadonlySet<string>, { received }: ChaosSink): number {
  return new Set([...received.keys()].map((copy) => copy.split(' ')[1])).intersection(refused).size;
}

/** Asks for everything that waits to be retried now, until nothing waits. @returns how many still wait after 3 minutes */
async function drain(source: Database, accountId: AccountId): Promise<number> {
  const controls = new QueueControlStore(source);
  const deadline = Date.now() + 180_000;
  for (;;) {
    const waiting = await source.pool
      .query<{ count: number }>('select count(*)::int as count from queue_entry')
      .then(({ rows }) => rows[0]?.count ?? 0)
      .catch(() => undefined);
    if (waiting === 0) return 0;
    if (Date.now() > deadline) return waiting ?? -1;
    await controls.control('retry', { accountId }).catch(() => undefined);
    await delay(1_000);
  }
}
