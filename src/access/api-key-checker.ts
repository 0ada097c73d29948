import { batchReads } from '../foundation/batch-reads.ts';
import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { MaybePromise } from '../foundation/maybe-promise.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';
import type { ApiKeyParser } from './api-key.ts';
import { apiKeyTopic, findApiKeys, rehashApiKey } from './api-key-store.ts';
import { ApiKeyUsage } from './api-key-usage.ts';
import { CredentialCache } from './credential-cache.ts';
import type { KeyPrincipal } from './principal.ts';

/** Milliseconds between two writes of last-used times. */
const usageWriteIntervalMs = 30_000;

export interface ApiKeyCheckerDependencies {
  readonly database: Pick<Database, 'kysely'>;
  readonly keys: ApiKeyParser;
  readonly changes: ChangeListener;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Checks API keys. Concurrent lookups of uncached keys share one statement, so that a flood of forged keys costs the
 * database little.
 */
export class ApiKeyChecker {
  readonly #dependencies: ApiKeyCheckerDependencies;
  readonly #cache: CredentialCache<KeyPrincipal>;
  readonly #usage: ApiKeyUsage;
  readonly #usageTask: PeriodicTask;

  /** @param max max keys kept in memory */
  constructor(dependencies: ApiKeyCheckerDependencies, max?: number) {
    this.#dependencies = dependencies;
    const { database, keys, changes, clock, log } = dependencies;
    this.#usage = new ApiKeyUsage({ database, log });
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
    changes.subscribe(apiKeyTopic, (accountId) =>
      this.#cache.invalidate(
        accountId === '*' ? undefined : (key) => key.reach.accountId === accountId,
      ),
    );
    this.#usageTask = new PeriodicTask(usageWriteIntervalMs, () => this.writeUsage());
  }

  /** @returns undefined if the key is not valid; a promise only if the database is queried */
  check(text: string): MaybePromise<KeyPrincipal | undefined> {
    const found = this.#cache.find(text, () => this.#dependencies.keys.parse(text) !== undefined);
    if (found instanceof Promise) return found.then((key) => this.#markUsed(key));
    return this.#markUsed(found);
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

  #markUsed(key: KeyPrincipal | undefined): KeyPrincipal | undefined {
    if (key !== undefined) this.#usage.add(key);
    return key;
  }
}

type ApiKeyLookup = Parameters<typeof findApiKeys>[1][number];
