import type { SmtpPool } from '../smtp-pool.ts';

interface Entry {
  readonly pool: SmtpPool;
  readonly group: string;
  usedAt: number;
  active: number;
}

/** The pools of one destination, which share its connection limit. */
export interface PoolGroup {
  readonly name: string;
  /** Includes idle connections. */
  readonly maxConnections: number;
}

const idleMs = 60_000;

/** Connection pools by server, source address and TLS use. Unused pools are removed. */
export class HopPools {
  readonly #entries = new Map<string, Entry>();
  readonly #groups = new Map<string, Set<Entry>>();
  #sweptAt = 0;

  /** Runs `work` with the pool for a key, creating it if needed. */
  async use<Result>(
    key: string,
    group: PoolGroup,
    make: () => SmtpPool,
    work: (pool: SmtpPool) => Promise<Result>,
  ): Promise<Result> {
    this.#sweep();
    const entry = this.#entries.get(key) ?? this.#add(key, group.name, make());
    if (entry.pool.idleCount === 0) this.#freeConnection(group);
    entry.active += 1;
    try {
      return await work(entry.pool);
    } finally {
      entry.active -= 1;
      entry.usedAt = performance.now();
    }
  }

  drop(): void {
    for (const { pool } of this.#entries.values()) pool.drop();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ pool }) => pool.close()));
    this.#entries.clear();
    this.#groups.clear();
  }

  #add(key: string, group: string, pool: SmtpPool): Entry {
    const entry = { pool, group, usedAt: 0, active: 0 };
    this.#entries.set(key, entry);
    const members = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, members.add(entry));
    return entry;
  }

  /** Closes an idle connection to one host of a destination so that another host can get a new one. */
  #freeConnection({ name, maxConnections }: PoolGroup): void {
    const members = [...(this.#groups.get(name) ?? [])];
    let open = members.reduce((total, { pool }) => total + pool.open, 0);
    for (const { pool } of members) while (open >= maxConnections && pool.closeIdle()) open -= 1;
  }

  #sweep(): void {
    const now = performance.now();
    if (now < this.#sweptAt + idleMs) return;
    this.#sweptAt = now;
    for (const [key, entry] of this.#entries) {
      if (entry.active > 0 || now < entry.usedAt + idleMs) continue;
      this.#entries.delete(key);
      const members = this.#groups.get(entry.group);
      members?.delete(entry);
      if (members?.size === 0) this.#groups.delete(entry.group);
      void entry.pool.close();
    }
  }
}
