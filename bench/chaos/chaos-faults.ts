import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SmallDisk } from '../../test/support/small-disk.ts';
import { processTree, signalAll } from '../machine-use.ts';
import type { ChaosNode } from './chaos-node.ts';
import { type RoughSink, type Weather, weathers } from './rough-sink.ts';

export interface ChaosScene {
  readonly nodes: readonly ChaosNode[];
  readonly disk: SmallDisk;
  readonly sink: RoughSink;
  /** How often the relay was in each mood. */
  readonly weather: Record<Weather, number>;
}

interface Fault {
  /** Weight among all faults. */
  readonly odds: number;
  /** @returns false if there was nothing to inject it into; a function that ends a lasting fault */
  inject(scene: ChaosScene, node: ChaosNode): Promise<boolean | (() => void)>;
  /** Min and max duration of a lasting fault. */
  readonly seconds?: readonly [number, number];
}

const faults = {
  'kill node': { odds: 22, inject: async (_, node) => node.signalAll('SIGKILL') },
  'kill worker process': { odds: 16, inject: async (_, node) => node.killWorker() },
  'kill first process': { odds: 8, inject: async (_, node) => node.signal('SIGKILL') },
  'kill database': {
    odds: 16,
    inject: async ({ disk }) => signalAll((await databasePids(disk)).slice(0, 1), 'SIGKILL') > 0,
  },
  'stop node': { odds: 10, inject: async (_, node) => node.signal('SIGTERM') },
  'sleep node': {
    odds: 8,
    // Longer than a lease, so that another worker takes over.
    seconds: [40, 40],
    inject: async (_, node) => node.signalAll('SIGSTOP') && (() => node.signalAll('SIGCONT')),
  },
  'hang database': {
    odds: 2,
    // Sometimes longer than the statement timeout and a lease.
    seconds: [12, 38],
    async inject({ disk }) {
      const pids = await databasePids(disk);
      return signalAll(pids, 'SIGSTOP') > 0 && (() => signalAll(pids, 'SIGCONT'));
    },
  },
  'fill disk': {
    odds: 3,
    seconds: [4, 12],
    inject: ({ disk }) => disk.fill().then(() => () => disk.free()),
  },
  'rude relay': {
    odds: 12,
    seconds: [7, 23],
    async inject({ sink, weather }) {
      const chosen = pickRandom(weathers) ?? 'busy';
      sink.setWeather(chosen);
      weather[chosen] += 1;
      return () => sink.setWeather(undefined);
    },
  },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];

export function makeCounts<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/** Injects random faults until a time. @param only undefined: all. @returns how often each happened */
export async function injectFaults(
  scene: ChaosScene,
  until: number,
  intervalMs: number,
  only?: FaultName,
): Promise<Record<FaultName, number>> {
  const possible = faultNames.filter((name) => name !== 'fill disk' || scene.disk.canFill);
  const chances = possible.flatMap((name) => Array.from({ length: faults[name].odds }, () => name));
  const counts = makeCounts(faultNames);
  /** Functions that end lasting faults, by the sleeping node or the fault. */
  const active = new Map<FaultName | ChaosNode, () => void>();
  while (Date.now() < until) {
    const wait = intervalMs * (only === undefined ? 0.5 + Math.random() : 1);
    await delay(Math.min(wait, Math.max(until - Date.now(), 0)));
    const name = only ?? pickRandom(chances) ?? 'kill node';
    const awake = scene.nodes.filter((one) => !active.has(one));
    const node = pickRandom(awake);
    const isLast = name === 'sleep node' && awake.length < 2;
    if (Date.now() >= until || node === undefined || isLast || active.has(name)) continue;
    const fault: Fault = faults[name];
    const injected = await fault.inject(scene, node);
    if (injected !== false) counts[name] += 1;
    if (typeof injected !== 'function') continue;
    const key = name === 'sleep node' ? node : name;
    const endOnce = (): void => {
      if (active.delete(key)) injected();
    };
    active.set(key, endOnce);
    const [min = 0, max = 0] = fault.seconds ?? [];
    setTimeout(endOnce, (min + (max - min) * Math.random()) * 1_000).unref();
  }
  for (const end of active.values()) end();
  scene.sink.behave();
  return counts;
}

/** PostgreSQL's processes, the first one first. */
async function databasePids({ path }: SmallDisk): Promise<number[]> {
  const file = join(path, 'database', 'postmaster.pid');
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
  return pid > 1 ? processTree(pid) : [];
}

function pickRandom<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
