import { setTimeout as delay } from 'node:timers/promises';
import { findDatabaseProblems } from '../../src/base/database/find-database-problems.ts';
import { migrate } from '../../src/base/database/migrate.ts';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { QueueControlStore } from '../../src/sending/queue/control-store.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openChaosAccounts } from '../chaos/chaos-accounts.ts';
import { ChaosLoad } from '../chaos/chaos-load.ts';
import { ChaosNode } from '../chaos/chaos-node.ts';
import { drainQueue } from '../chaos/drain-queue.ts';
import { evaluateChaos } from '../chaos/evaluate-chaos.ts';
import { startRoughSink } from '../chaos/rough-sink.ts';
import { countRepeatedRequests } from './count-repeated-requests.ts';
import { type FailoverFaultName, failoverFault, failoverFaultNames } from './failover-faults.ts';
import { measureWindow, type WindowReport } from './measure-window.ts';
import { PatroniCluster } from './patroni-cluster.ts';
import { MemberWatch } from './watch-members.ts';

export interface FailoverOptions {
  readonly minutes: number;
  /** Requests a second. */
  readonly rate: number;
  readonly synchronous: boolean;
  /** Default: all, in turn. */
  readonly faults?: readonly FailoverFaultName[];
  /** Called after each fault. */
  readonly report?: (fault: FaultReport) => void;
}

export interface FaultReport extends WindowReport {
  readonly fault: FailoverFaultName;
}

/** Duration of load without faults, before the first one and after each. */
const calmMs = 5_000;
const drainTimeoutMs = 600_000;

/**
 * Sends messages to two nodes on a cluster of three members, for half of the accounts while their queue is paused, and injects
 * one fault after another. Then everything is delivered and compared with what was accepted.
 */
export async function measureFailover(options: FailoverOptions) {
  const { minutes, rate, synchronous, faults = failoverFaultNames, report } = options;
  await using closing = new AsyncDisposableStack();
  const cluster = await PatroniCluster.start(synchronous);
  closing.defer(() => cluster.stop());
  const database = openDatabase({ url: cluster.url }, { maxConnections: 3 });
  closing.defer(() => database.close());
  await migrate(database);
  const problems = await findDatabaseProblems(database.pool);
  const active = await openChaosAccounts(database, '46100', '46200');
  const paused = await openChaosAccounts(database, '46300', '46400');
  const accountIds = [...active.accountIds, ...paused.accountIds];
  const controls = new QueueControlStore(database);
  for (const accountId of paused.accountIds) await controls.control('pause', { accountId });
  const sink = await startRoughSink();
  closing.defer(() => sink.stop());
  sink.behave();
  const nodes = [new ChaosNode(cluster.url, sink.port), new ChaosNode(cluster.url, sink.port)];
  const running = nodes.map((node) => node.run());
  closing.defer(async () => {
    await Promise.all(nodes.map((node) => node.end()));
    await Promise.all(running);
  });
  while (nodes.some((node) => node.url === undefined)) await delay(50);
  const node = { url: nodes[0]?.url ?? '' };
  const targets = [await active.readTargets(node), await paused.readTargets(node)];
  const watch = new MemberWatch(cluster.members);
  closing.defer(() => watch.stop());
  const load = new ChaosLoad(nodes, targets, { perSecond: rate, repeats: true });
  closing.defer(() => load.stop());
  const reports: FaultReport[] = [];
  const started = Date.now();
  const until = started + minutes * 60_000;
  for (let turn = 0; Date.now() < until; turn += 1) {
    const name = faults[turn % faults.length];
    if (name === undefined) break;
    await delay(calmMs);
    const window = await injectFault(cluster, name);
    await delay(calmMs);
    const measured = measureWindow(window, { nodes, load, watch });
    reports.push({ fault: name, ...measured });
    report?.({ fault: name, ...measured });
  }
  const seconds = (Date.now() - started) / 1_000;
  await load.stop();
  for (const accountId of paused.accountIds)
    await waitFor('the queue to resume', () =>
      controls.control('resume', { accountId }).then(
        () => true,
        () => false,
      ),
    );
  const stillWaiting = await drainQueue(database, accountIds, drainTimeoutMs);
  const verdict = await evaluateChaos(database, accountIds, load, sink);
  return {
    ...verdict,
    faults: reports,
    /** What `doctor` says about the cluster. */
    findings: problems.map(({ finding }) => finding),
    unanswered: load.unanswered,
    refused: load.refused.size,
    repeatedRequests: countRepeatedRequests(sink),
    stillWaiting,
    seconds,
  };
}

/** @returns when it began, and when the cluster was healthy again */
async function injectFault(cluster: PatroniCluster, name: FailoverFaultName) {
  const { prepare, inject, seconds, end } = failoverFault(name);
  const scene = await cluster.waitUntilWhole();
  await prepare?.(scene);
  const from = Date.now();
  await inject(scene);
  await delay(Math.max(0, from + seconds * 1_000 - Date.now()));
  end?.(scene);
  await cluster.waitUntilWhole();
  return { from, to: Date.now() };
}
