import type { SmtpPool } from '../smtp-pool.ts';

interface Entry {
  readonly pool: SmtpPool;
  usedAt: number;
  under: number;
}

const idleMilliseconds = 60_000;

/** Connection pools by server, source address and use of TLS; those that nobody uses go. */
export class HopPools {
  readonly #entries = new Map<string, Entry>();
  #sweptAt = 0;

  /** Runs `work` with the pool of a key, made where there is none. */
  async use<Result>(
    key: string,
    make: () => SmtpPool,
    work: (pool: SmtpPool) => Promise<Result>,
  ): Promise<Result> {
    this.#sweep();
    const entry = this.#entries.get(key) ?? { pool: make(), usedAt: 0, under: 0 };
    this.#entries.set(key, entry);
    entry.under += 1;
    try {
      return await work(entry.pool);
    } finally {
      entry.under -= 1;
      entry.usedAt = performance.now();
    }
  }

  drop(): void {
    for (const { pool } of this.#entries.values()) pool.drop();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ pool }) => pool.close()));
    this.#entries.clear();
  }

  #sweep(): void {
    const now = performance.now();
    if (now < this.#sweptAt + idleMilliseconds) return;
    this.#sweptAt = now;
    for (const [key, entry] of this.#entries) {
      if (entry.under > 0 || now < entry.usedAt + idleMilliseconds) continue;
      this.#entries.delete(key);
      void entry.pool.close();
    }
  }
}
