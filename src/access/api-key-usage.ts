import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { recordApiKeyUsage } from './api-key-store.ts';
import type { KeyPrincipal } from './principal.ts';

/** How many keys wait to be written down; about 200 bytes each. */
const defaultMax = 10_000;

export interface ApiKeyUsageDependencies {
  readonly database: Pick<Database, 'kysely'>;
  readonly log: Log;
  readonly max?: number | undefined;
}

/** Which keys were used since that was last written down: each once, however often it was used or read anew. */
export class ApiKeyUsage {
  readonly #dependencies: ApiKeyUsageDependencies;
  readonly #max: number;
  /** By id: a key that was forgotten and read again is another object. */
  #used = new Map<string, KeyPrincipal>();
  #writing: Promise<void> | undefined;

  constructor(dependencies: ApiKeyUsageDependencies) {
    this.#dependencies = dependencies;
    this.#max = dependencies.max ?? defaultMax;
  }

  /** How many keys wait to be written down. */
  get size(): number {
    return this.#used.size;
  }

  /** Where more keys are in use than fit and the database is slow, the last use of some is not noted this time. */
  add(key: KeyPrincipal): void {
    if (this.#used.has(key.keyId)) return;
    if (this.#used.size >= this.#max && !this.#startWrite()) return;
    this.#used.set(key.keyId, key);
  }

  /** Writes down what was added. Never rejects. */
  async write(): Promise<void> {
    await this.#writing;
    this.#startWrite();
    await this.#writing;
  }

  /** One statement at a time. @returns false where one is under way */
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
      log.warn({ err: error }, 'the last use of API keys was not written down');
    }
  }
}
