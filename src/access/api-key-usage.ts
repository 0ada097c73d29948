import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { recordApiKeyUsage } from './api-key-store.ts';
import type { KeyPrincipal } from './principal.ts';

/** Keys waiting to be written; about 200 bytes each. */
const defaultMax = 10_000;

export interface ApiKeyUsageDependencies {
  readonly database: Pick<Database, 'kysely'>;
  readonly log: Log;
  readonly max?: number | undefined;
}

/** The keys used since the last write, each once, however often it was used or reloaded. */
export class ApiKeyUsage {
  readonly #dependencies: ApiKeyUsageDependencies;
  readonly #max: number;
  /** By id: a key that was evicted and read again is a different object. */
  #used = new Map<string, KeyPrincipal>();
  #writing: Promise<void> | undefined;

  constructor(dependencies: ApiKeyUsageDependencies) {
    this.#dependencies = dependencies;
    this.#max = dependencies.max ?? defaultMax;
  }

  /** Keys waiting to be written. */
  get size(): number {
    return this.#used.size;
  }

  /** If more keys are in use than fit and the database is slow, some uses are not recorded this time. */
  add(key: KeyPrincipal): void {
    if (this.#used.has(key.keyId)) return;
    if (this.#used.size >= this.#max && !this.#startWrite()) return;
    this.#used.set(key.keyId, key);
  }

  /** Writes the recorded uses. Never rejects. */
  async write(): Promise<void> {
    await this.#writing;
    this.#startWrite();
    await this.#writing;
  }

  /** Runs one statement at a time. @returns false if one is still running */
  #startWrite(): boolean {
    if (this.#writing !== undefined) return false;
    if (this.#used.size === 0) return true;
    const used = [...this.#used.values()];
    this.#used = new Map();
    this.#writing = this.#writeUsed(used).finally(() => {
      this.#writing = undefined;
    });
    return true;
  }

  async #writeUsed(used: readonly KeyPrincipal[]): Promise<void> {
    const { database, log } = this.#dependencies;
    try {
      await recordApiKeyUsage(database.kysely, used);
    } catch (error) {
      log.warn({ err: error }, 'could not record the last use of API keys');
    }
  }
}
