import { batchReads } from '../../base/database/batch-reads.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Log } from '../../base/values/log.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import type { ApiKeyParser } from './api-key.ts';
import {
  apiKeyTopic,
  findApiKeys,
  findSigningKeys,
  recordApiKeyUsage,
  rehashApiKey,
} from './api-key-store.ts';
import { CredentialCache } from './credential-cache.ts';
import type { KeyPrincipal } from './principal.ts';
import { parseAccessKeyId, type SigningKeyName, type SigningSecrets } from './signing-secrets.ts';

/** Keys waiting to be written; about 200 bytes each. */
const defaultMax = 10_000;

/** The keys used since the last write, each once, however often it was used or reloaded. */
export class ApiKeyUsage {
  readonly #kysely: Kysely;
  readonly #log: Log;
  readonly #max: number;
  /** By id: a key that was evicted and read again is a different object. */
  #used = new Map<string, KeyPrincipal>();
  #writing: Promise<void> | undefined;

  constructor({ kysely }: Pick<Database, 'kysely'>, log: Log, max = defaultMax) {
    this.#kysely = kysely;
    this.#log = log;
    this.#max = max;
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
    try {
      await recordApiKeyUsage(this.#kysely, used);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not record the last use of API keys');
    }
  }
}

/** Milliseconds between two writes of last-used times. */
const usageWriteIntervalMs = 30_000;

interface ApiKeyCheckerDependencies {
  readonly database: Pick<Database, 'kysely'>;
  readonly keys: ApiKeyParser;
  readonly secrets: SigningSecrets;
  readonly changes: ChangeListener;
  readonly clock: Clock;
  readonly log: Log;
}

/** A key that signs requests. */
export interface SigningKey {
  readonly principal: KeyPrincipal;
  readonly secret: string;
}

/**
 * Checks API keys. Concurrent lookups of uncached keys share one statement, so that a flood of forged keys costs the
 * database little.
 */
export class ApiKeyChecker {
  readonly #dependencies: ApiKeyCheckerDependencies;
  readonly #cache: CredentialCache<KeyPrincipal>;
  readonly #signing: CredentialCache<SigningKey>;
  readonly #usage: ApiKeyUsage;
  readonly #usageTask: PeriodicTask;

  /** @param max max keys kept in memory */
  constructor(dependencies: ApiKeyCheckerDependencies, max?: number) {
    this.#dependencies = dependencies;
    const { database, keys, changes, clock, log } = dependencies;
    this.#usage = new ApiKeyUsage(database, log);
    const find = batchReads((lookups: readonly ApiKeyLookup[]) =>
      findApiKeys(database.kysely, lookups),
    );
    const read = async (text: string) => {
      const parsed = keys.parse(text);
      if (parsed === undefined) return undefined;
      const { accountId, hash, olderHashes } = parsed;
      const found = await find({ accountId, hash });
      if (found !== undefined) return found;
      // While the master key is being rotated, hashes are replaced as keys are used.
      for (const olderHash of olderHashes)
        if (await rehashApiKey(database.kysely, accountId, olderHash, hash))
          return find({ accountId, hash });
      return undefined;
    };
    this.#cache = new CredentialCache({ changes, clock, read, max });
    this.#signing = new CredentialCache({ changes, clock, read: this.#signingReader(), max });
    changes.subscribe(apiKeyTopic, (accountId) => {
      const isOf =
        accountId === '*' ? undefined : ({ reach }: KeyPrincipal) => reach.accountId === accountId;
      this.#cache.invalidate(isOf);
      this.#signing.invalidate(isOf && (({ principal }) => isOf(principal)));
    });
    this.#usageTask = new PeriodicTask(usageWriteIntervalMs, () => this.writeUsage());
  }

  /** @returns undefined if the key is not valid; a promise only if the database is queried */
  check(text: string): MaybePromise<KeyPrincipal | undefined> {
    const found = this.#cache.find(text, () => this.#dependencies.keys.parse(text) !== undefined);
    if (found instanceof Promise) return found.then((key) => this.#markUsed(key));
    return this.#markUsed(found);
  }

  /**
   * The key that a signature names. Whoever checked the signature calls `recordUse`.
   * @returns undefined if there is none that can sign; a promise only if the database is queried
   */
  findSigning(accessKeyId: string): MaybePromise<SigningKey | undefined> {
    return this.#signing.find(accessKeyId, () => parseAccessKeyId(accessKeyId) !== undefined);
  }

  /** Records that a key was used just now. */
  recordUse(key: KeyPrincipal): void {
    this.#usage.add(key);
  }

  start(): void {
    this.#usageTask.start();
  }

  async stop(): Promise<void> {
    await this.#usageTask.stop();
    await this.writeUsage();
  }

  /** Writes which keys were used since the last write. */
  writeUsage(): Promise<void> {
    return this.#usage.write();
  }

  #signingReader() {
    const { database, secrets } = this.#dependencies;
    const find = batchReads((names: readonly SigningKeyName[]) =>
      findSigningKeys(database.kysely, names),
    );
    return async (accessKeyId: string) => {
      const name = parseAccessKeyId(accessKeyId);
      if (name === undefined) return undefined;
      const found = await find(name);
      if (found === undefined) return undefined;
      const { principal, sealed } = found.holder;
      const holder = { principal, secret: secrets.open(name, sealed) };
      return { ...found, holder };
    };
  }

  #markUsed(key: KeyPrincipal | undefined): KeyPrincipal | undefined {
    if (key !== undefined) this.#usage.add(key);
    return key;
  }
}

type ApiKeyLookup = Parameters<typeof findApiKeys>[1][number];
