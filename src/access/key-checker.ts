import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Eventual } from '../foundation/eventual.ts';
import { gatherReads } from '../foundation/gather-reads.ts';
import type { Log } from '../foundation/log.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';
import type { ApiKeys } from './api-key.ts';
import { apiKeyTopic, findApiKeys, rehashApiKey } from './api-key-store.ts';
import { CredentialCache } from './credential-cache.ts';
import { KeyUses } from './key-uses.ts';
import type { KeyPrincipal } from './principal.ts';

/** Milliseconds between two notes of which keys were used. */
const noteInterval = 30_000;

export interface KeyCheckerParts {
  readonly database: Pick<Database, 'kysely'>;
  readonly keys: ApiKeys;
  readonly changes: ChangeListener;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Who holds an API key. Keys that come together and aren't in memory are read by one statement, so that a flood of forged
 * ones costs the database little. When a key was last used is written once in a while for all keys together.
 */
export class KeyChecker {
  readonly #parts: KeyCheckerParts;
  readonly #cache: CredentialCache<KeyPrincipal>;
  readonly #uses: KeyUses;
  readonly #notes: PeriodicTask;

  /** @param max keys kept in memory */
  constructor(parts: KeyCheckerParts, max?: number) {
    this.#parts = parts;
    const { database, keys, changes, clock, log } = parts;
    this.#uses = new KeyUses({ database, log });
    const find = gatherReads((asked: readonly KeyQuestion[]) =>
      findApiKeys(database.kysely, asked),
    );
    const read = async (text: string, offset: number) => {
      const named = keys.read(text);
      if (named === undefined) return undefined;
      const { accountId, hash, olderHashes } = named;
      const found = await find({ accountId, hash, offset });
      if (found !== undefined) return found;
      // While the master key is being rotated, hashes are made anew as keys are used.
      for (const older of olderHashes)
        if (await rehashApiKey(database.kysely, accountId, older, hash))
          return find({ accountId, hash, offset });
      return undefined;
    };
    this.#cache = new CredentialCache({ changes, clock, read, max });
    changes.subscribe(apiKeyTopic, (accountId) =>
      this.#cache.forget(accountId === '*' ? undefined : (key) => key.accountId === accountId),
    );
    this.#notes = new PeriodicTask(noteInterval, () => this.noteUses());
  }

  /** @returns undefined where the key is not valid; a promise only where the database is asked */
  check(text: string): Eventual<KeyPrincipal | undefined> {
    const found = this.#cache.find(text, () => this.#parts.keys.read(text) !== undefined);
    if (found instanceof Promise) return found.then((key) => this.#use(key));
    return this.#use(found);
  }

  start(): void {
    this.#notes.start();
  }

  async stop(): Promise<void> {
    await this.#notes.stop();
    await this.noteUses();
  }

  /** Writes down which keys were used since the last time. */
  noteUses(): Promise<void> {
    return this.#uses.write();
  }

  #use(key: KeyPrincipal | undefined): KeyPrincipal | undefined {
    if (key !== undefined) this.#uses.add(key);
    return key;
  }
}

type KeyQuestion = Parameters<typeof findApiKeys>[1][number];
