import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SmallDisk } from '../../test/support/small-disk.ts';
import { processTree, signalAll } from '../process-tree.ts';
import type { ChaosNode } from './chaos-node.ts';
import { type Weather, weathers } from './rough-weather.ts';
import type { ChaosSink } from './sink.ts';

/** What can go wrong, and how often of a hundred times. */
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
} as const;

export type FaultName = keyof typeof odds;
export const faultNames = Object.keys(odds) as FaultName[];

export interface ChaosScene {
  readonly nodes: readonly ChaosNode[];
  readonly disk: SmallDisk;
  readonly sink: ChaosSink;
}

/** Longer than a lease, so that another worker takes over what a sleeping one has begun. */
const sleepMs = 40_000;
/** Longer than any statement's patience; sometimes longer than a lease. */
const hangMs = 25_000;
const fullDiskMs = 8_000;
const weatherMs = 15_000;

/** Does something bad at random, every few seconds. */
export class ChaosFaults {
  readonly #scene: ChaosScene;
  readonly #names: readonly FaultName[];
  readonly #asleep = new Set<ChaosNode>();
  /** How each fault that is still on is ended, by its name. */
  readonly #activeFaults = new Map<FaultName, () => void>();
  readonly counts = Object.fromEntries(faultNames.map((name) => [name, 0])) as Record<
    FaultName,
    number
  >;
  readonly weather = Object.fromEntries(weathers.map((name) => [name, 0])) as Record<
    Weather,
    number
  >;

  /** @param only the one fault to do; all of them where it is not given */
  constructor(scene: ChaosScene, only?: FaultName) {
    this.#scene = scene;
    const possible = faultNames.filter((name) => name !== 'fill disk' || scene.disk.canFill);
    this.#names = only === undefined ? possible : [only];
  }

  /** Processes that were killed. */
  get kills(): number {
    const killed: FaultName[] = [
      'kill node',
      'kill worker process',
      'kill first process',
      'kill database',
    ];
    return killed.reduce((sum, name) => sum + this.counts[name], 0);
  }

  async run(until: number, intervalMs: number): Promise<void> {
    while (Date.now() < until) {
      const spread = this.#names.length === 1 ? 1 : 0.5 + Math.random();
      await delay(Math.min(intervalMs * spread, Math.max(until - Date.now(), 0)));
      if (Date.now() < until) await this.#injectOnce(this.#pick());
    }
    for (const endFault of this.#activeFaults.values()) endFault();
    for (const node of this.#asleep) node.signalAll('SIGCONT');
    this.#scene.sink.behave();
  }

  #pick(): FaultName {
    const sum = this.#names.reduce((total, name) => total + odds[name], 0);
    let roll = Math.random() * sum;
    return (
      this.#names.find((name) => {
        roll -= odds[name];
        return roll < 0;
      }) ?? 'kill node'
    );
  }

  async #injectOnce(name: FaultName): Promise<void> {
    if (await this.#inflict(name)) this.counts[name] += 1;
  }

  /** @returns false where there was nothing to do it to */
  async #inflict(name: FaultName): Promise<boolean> {
    const { nodes, disk, sink } = this.#scene;
    const awake = nodes.filter((node) => !this.#asleep.has(node));
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
        return node !== undefined && awake.length > 1 && this.#sleep(node);
      case 'kill database':
        return signalAll((await this.#database()).slice(0, 1), 'SIGKILL') > 0;
      case 'hang database': {
        const processes = await this.#database();
        if (signalAll(processes, 'SIGSTOP') === 0) return false;
        return this.#scheduleEnd(name, hangMs, () => signalAll(processes, 'SIGCONT'));
      }
      case 'fill disk':
        if (this.#activeFaults.has(name)) return false;
        await disk.fill();
        return this.#scheduleEnd(name, fullDiskMs, () => disk.free());
      case 'rude relay': {
        const weather = pickRandom(weathers);
        if (weather === undefined || this.#activeFaults.has(name)) return false;
        sink.weather(weather);
        this.weather[weather] += 1;
        return this.#scheduleEnd(name, weatherMs, () => sink.weather(undefined));
      }
    }
  }

  #scheduleEnd(name: FaultName, durationMs: number, end: () => void): true {
    const endFault = (): void => {
      if (this.#activeFaults.delete(name)) end();
    };
    this.#activeFaults.set(name, endFault);
    setTimeout(endFault, durationMs * (0.5 + Math.random())).unref();
    return true;
  }

  #sleep(node: ChaosNode): boolean {
    if (!node.signalAll('SIGSTOP')) return false;
    this.#asleep.add(node);
    setTimeout(() => {
      this.#asleep.delete(node);
      node.signalAll('SIGCONT');
    }, sleepMs).unref();
    return true;
  }

  /** The processes of PostgreSQL, the first one first. */
  async #database(): Promise<number[]> {
    const file = join(this.#scene.disk.path, 'database', 'postmaster.pid');
    const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
    return pid > 1 ? processTree(pid) : [];
  }
}

function pickRandom<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
