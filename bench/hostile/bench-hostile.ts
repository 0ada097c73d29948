import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { MessageId } from '../../src/foundation/ids.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { clientSecret } from '../../test/support/session-world.ts';
import { signIn } from '../../test/support/sign-in.ts';
import { startBenchDatabase } from '../bench-database.ts';
import type { BenchOptions, BenchResult } from '../bench-result.ts';
import { BenchSink } from '../deliver/bench-sink.ts';
import { MemoryWatch } from '../deliver/memory-watch.ts';
import { startServe } from '../deliver/start-serve.ts';
import { openImagePath } from '../feedback/reader-requests.ts';
import { measureUse } from '../machine-use.ts';
import type { AttackTarget } from './attack.ts';
import type { AttackReport } from './attackers.ts';
import { attacks } from './attacks.ts';
import { type OfferReport, offerSends } from './offer-sends.ts';
import { type HostileWorld, openHostileWorld } from './open-hostile-world.ts';
import { runAttackers } from './run-attackers.ts';

const clients = 20;
const offeredPerSecond = 200;
/** What the offer gets whatever others do, in sends a second. */
const wantedPerSecond = 100;
/** Attackers are at it for so many seconds before the offer begins. */
const leadSeconds = 2;

/**
 * One account offers 200 sends a second while twenty clients of strangers and of another account attack: alone, with all
 * attacks at once, and with each by itself. Each has a service of its own. The ceiling is what is offered; the aim is half of
 * it, with a 99th percentile below 500 ms.
 */
export async function benchHostile(options: BenchOptions): Promise<BenchResult[]> {
  const names = Object.keys(attacks);
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['none', []],
    ['all', names],
    ...names.map((name) => [name, [name]] as const),
  ];
  const results: BenchResult[] = [];
  for (const [name, chosen] of cases)
    if (options.attacks?.includes(name) ?? true)
      results.push(await measureCase(options, name, chosen));
  return results;
}

async function measureCase(
  { seconds, nodeOptions }: BenchOptions,
  name: string,
  names: readonly string[],
): Promise<BenchResult> {
  await using bench = await startBenchDatabase();
  using sink = await BenchSink.start();
  const world = await openHostileWorld(bench.database);
  const bouncePort = await findFreePort();
  await using node = await startServe(bench.url, sink.port, 10, nodeOptions, {
    BOUNCE_PORT: String(bouncePort),
    BOUNCE_HOST: '127.0.0.1',
  });
  using watch = new MemoryWatch(node);
  const port = Number(new URL(node.url).port);
  const offer = {
    port,
    accountId: world.victim.id,
    apiKey: world.victimKey,
    rate: offeredPerSecond,
  };
  await offerSends({ ...offer, seconds: 2 });
  watch.readAndReset();
  const target = await makeTarget(world, node.url, bouncePort);
  const order = { target, clients, names, seconds: leadSeconds + seconds };
  const attacking = names.length > 0 ? runAttackers(order) : undefined;
  await delay(leadSeconds * 1_000);
  const pids = { service: node.pid, database: bench.pid };
  const { result, use } = await measureUse(pids, () => offerSends({ ...offer, seconds }));
  return {
    ...toResult(name, seconds, result, await attacking, watch.readAndReset().peak),
    ...(use && { elsewhere_percent: Math.round(use.elsewhere * 100) }),
  };
}

async function makeTarget(
  { victim, attacker, attackerKey, viewerEmail }: HostileWorld,
  url: string,
  bouncePort: number,
): Promise<AttackTarget> {
  const sent = await new SendClient({ url }, attackerKey).send({ account: attacker.id });
  if (sent.status !== 200) throw new Error(sent.text);
  const message = { id: sent.body.messageId as MessageId, retention_days: 90 };
  return {
    port: Number(new URL(url).port),
    bouncePort,
    accountId: attacker.id,
    victimId: victim.id,
    victimEmail: victim.owner.email,
    ownerCookie: await signIn({ url }, attacker.owner.email),
    viewerCookie: await signIn({ url }, viewerEmail),
    apiKey: attackerKey,
    clientId: attacker.integration.clientId,
    clientSecret,
    imagePath: openImagePath(attacker.id, message),
  };
}

function toResult(
  attack: string,
  seconds: number,
  { answered, seconds: elapsedSeconds, statuses, latencies }: OfferReport,
  attackers: AttackReport = {},
  peak: number,
): BenchResult {
  const offered = offeredPerSecond * seconds;
  const total = Object.values(attackers).reduce((sum, count) => sum + count, 0);
  const p99 = latencies.quantile(0.99);
  return {
    name: 'hostile',
    params: {
      attack,
      refused: offered - answered,
      ...(answered < offered && { statuses: formatStatuses(statuses) }),
      peak_mib: Math.round(peak),
      attacks_per_second: Math.round(total / (seconds + leadSeconds)),
      ...(total > 0 && { attackers_got: formatStatuses(attackers) }),
      met: String(answered / elapsedSeconds >= wantedPerSecond && p99 < 500),
    },
    rate: Math.round(answered / elapsedSeconds),
    ceiling: offeredPerSecond,
    ratio: answered / offered,
    p50_ms: latencies.quantile(0.5),
    p99_ms: p99,
  };
}

function formatStatuses(statuses: Readonly<Record<string, number>>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${status}:${count}`)
    .join(',');
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
