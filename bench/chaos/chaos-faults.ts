import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SmallDisk } from '../../test/support/small-disk.ts';
import { processTree, signalAll } from '../machine-use.ts';
import type { ChaosNode } from './chaos-node.ts';
import { type RoughSink, weathers } from './rough-sink.ts';

/** How often of a hundred times each fault happens. */
const odds = {
  'kill node': 22,
  'kill worker process': 16,
  'kill first process': 8,
  'kill database': 16,
  'stop node': 10,
  'sleep node': 8,
  'hang database': 2,
  'fill disk': 3,
  'rude relay': 12,
};

export type FaultName = keyof typeof odds;
export const faultNames = Object.keys(odds) as FaultName[];

export interface ChaosScene {
  readonly nodes: readonly ChaosNode[];
  readonly disk: SmallDisk;
  readonly sink: RoughSink;
}

/** Longer than a lease, so that another worker takes over. */
const sleepMs = 40_000;
/** Longer than any statement may take, sometimes longer than a lease. */
const hangMs = 25_000;
const fullDiskMs = 8_000;
const weatherMs = 15_000;

/** Injects random faults. */
export class ChaosFaults {
  readonly #scene: ChaosScene;
  readonly #names: readonly FaultName[];
  /** Ends the faults that last. */
  readonly #active = new Map<FaultName | ChaosNode, () => void>();
  readonly counts = makeCounts(faultNames);
  readonly weather = makeCounts(weathers);

  /** @param only undefined: all faults */
  constructor(scene: ChaosScene, only?: FaultName) {
    this.#scene = scene;
    const possible = faultNames.filter((name) => name !== 'fill disk' || scene.disk.canFill);
    this.#names = only === undefined ? possible : [only];
  }

  /** Processes killed. */
  get kills(): number {
    const kills = faultNames.filter((name) => name.startsWith('kill'));
    return kills.reduce((sum, name) => sum + this.counts[name], 0);
  }

  async run(until: number, intervalMs: number): Promise<void> {
    while (Date.now() < until) {
      const spread = this.#names.length === 1 ? 1 : 0.5 + Math.random();
      await delay(Math.min(intervalMs * spread, Math.max(until - Date.now(), 0)));
      const name = this.#pick();
      if (Date.now() < until && (await this.#inject(name))) this.counts[name] += 1;
    }
    for (const end of this.#active.values()) end();
    this.#scene.sink.behave();
  }

  #pick(): FaultName {
    let roll = Math.random() * this.#names.reduce((total, name) => total + odds[name], 0);
    const picked = this.#names.find((name) => {
      roll -= odds[name];
      return roll < 0;
    });
    return picked ?? 'kill node';
  }

  /** @returns false if there was nothing to do it to */
  async #inject(name: FaultName): Promise<boolean> {
    const { nodes, disk, sink } = this.#scene;
    const awake = nodes.filter((node) => !this.#active.has(node));
    const node = pickRandom(awake);
    switch (name) {
      case 'kill node':
        return node?.signalAll('SIGKILL') ?? false;
      case 'kill first process':
        return node?.signal('SIGKILL') ?? false;
      case 'kill worker process':
        return node?.killWorker() ?? false;
      case 'stop node':
        return node?.signal('SIGTERM') ?? false;
      case 'sleep node':
        if (node === undefined || awake.length < 2 || !node.signalAll('SIGSTOP')) return false;
        return this.#scheduleEnd(node, sleepMs, () => node.signalAll('SIGCONT'));
      case 'kill database':
        return signalAll((await this.#databasePids()).slice(0, 1), 'SIGKILL') > 0;
      case 'hang database': {
        const pids = await this.#databasePids();
        if (signalAll(pids, 'SIGSTOP') === 0) return false;
        return this.#scheduleEnd(name, spread(hangMs), () => signalAll(pids, 'SIGCONT'));
      }
      case 'fill disk':
        if (this.#active.has(name)) return false;
        await disk.fill();
        return this.#scheduleEnd(name, spread(fullDiskMs), () => disk.free());
      case 'rude relay': {
        const weather = pickRandom(weathers);
        if (weather === undefined || this.#active.has(name)) return false;
        sink.setWeather(weather);
        this.weather[weather] += 1;
        return this.#scheduleEnd(name, spread(weatherMs), () => sink.setWeather(undefined));
      }
    }
  }

  #scheduleEnd(fault: FaultName | ChaosNode, durationMs: number, end: () => void): true {
    const endOnce = (): void => {
      if (this.#active.delete(fault)) end();
    };
    this.#active.set(fault, endOnce);
    setTimeout(endOnce, durationMs).unref();
    return true;
  }

  /** PostgreSQL's processes, the first one first. */
  async #databasePids(): Promise<number[]> {
    const file = join(this.#scene.disk.path, 'database', 'postmaster.pid');
    const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
    return pid > 1 ? processTree(pid) : [];
  }
}

function makeCounts<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

function spread(durationMs: number): number {
  return durationMs * (0.5 + Math.random());
}

function pickRandom<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
