import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChaosNode } from './chaos-node.ts';

export type FaultName = 'kill node' | 'kill database' | 'stop node' | 'sleep node';

/** Longer than a lease, so that another worker takes over what a sleeping one has begun. */
const sleepMilliseconds = 40_000;

/** Does something bad at random every few seconds. */
export class ChaosFaults {
  readonly #nodes: readonly ChaosNode[];
  readonly #postmasterFile: string;
  readonly #sleeping = new Set<ChaosNode>();
  readonly counts: Record<FaultName, number> = {
    'kill node': 0,
    'kill database': 0,
    'stop node': 0,
    'sleep node': 0,
  };

  constructor(nodes: readonly ChaosNode[], postmasterFile: string) {
    this.#nodes = nodes;
    this.#postmasterFile = postmasterFile;
  }

  async run(until: number, everyMilliseconds: number): Promise<void> {
    while (Date.now() < until) {
      await delay(everyMilliseconds * (0.5 + Math.random()));
      await this.#once();
    }
    for (const node of this.#sleeping) node.signal('SIGCONT');
  }

  async #once(): Promise<void> {
    const roll = Math.random();
    if (roll < 0.2) return this.#killDatabase();
    const awake = this.#nodes.filter((node) => !this.#sleeping.has(node));
    const node = awake[Math.floor(Math.random() * awake.length)];
    if (node === undefined) return;
    if (roll < 0.4 && awake.length > 1) return this.#sleep(node);
    const gently = roll < 0.55;
    this.counts[gently ? 'stop node' : 'kill node'] += 1;
    node.signal(gently ? 'SIGTERM' : 'SIGKILL');
  }

  #sleep(node: ChaosNode): void {
    this.counts['sleep node'] += 1;
    this.#sleeping.add(node);
    node.signal('SIGSTOP');
    setTimeout(() => {
      this.#sleeping.delete(node);
      node.signal('SIGCONT');
    }, sleepMilliseconds).unref();
  }

  async #killDatabase(): Promise<void> {
    const pid = Number(
      (await readFile(this.#postmasterFile, 'utf8').catch(() => '')).split('\n')[0],
    );
    if (!(pid > 1)) return;
    try {
      process.kill(pid, 'SIGKILL');
      this.counts['kill database'] += 1;
    } catch {
      // The file is that of a database which is dead already.
    }
  }
}
