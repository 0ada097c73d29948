import { chown, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Decrypter } from 'age-encryption';
import { OperatorError } from '../../base/values/errors.ts';
import type { DatabaseUser } from '../embedded-database/database-user.ts';
import { quoteForShell } from '../embedded-database/postgres-program.ts';
import type { BackupRepository } from './backup-repository.ts';
import type { ChosenBackup } from './choose-backup.ts';
import { readWalFile } from './wal-archive.ts';

const pollMs = 20;
const wantedSuffix = '.wanted';
/** Segments to fetch ahead of the replay, 16 MiB of memory each. */
const ahead = 3;

/**
 * Supplies a recovering PostgreSQL with WAL. Its `restore_command` runs as another user, without keys or settings: it asks
 * by creating a file, and waits until this process has removed it.
 */
export class WalSupply {
  readonly #folder: string;
  readonly #user: DatabaseUser | undefined;
  readonly #read: (name: string) => Promise<Uint8Array | undefined>;
  readonly #names: readonly string[];
  readonly #fetched = new Map<string, Promise<Uint8Array | undefined>>();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    folder: string,
    user: DatabaseUser | undefined,
    repository: BackupRepository,
    decrypter: Decrypter,
    { walFiles }: ChosenBackup,
  ) {
    this.#folder = folder;
    this.#user = user;
    this.#names = [...walFiles.keys()].sort();
    this.#read = async (name) => {
      const [file, other] = walFiles.get(name) ?? [];
      if (other !== undefined)
        throw new OperatorError(
          `The backup has two different WAL files ${name}, because two installations use it. Restore to an earlier time with --to.`,
        );
      return file === undefined ? undefined : await readWalFile(repository, decrypter, file);
    };
  }

  /** PostgreSQL's `restore_command`. */
  get command(): string {
    const folder = quoteForShell(this.#folder).replaceAll('%', '%%');
    return `touch ${folder}/%f${wantedSuffix} && while test -e ${folder}/%f${wantedSuffix}; do sleep 0.05; done; mv ${folder}/%f "%p"`;
  }

  /** @param onFailure called once if WAL can't be read; PostgreSQL then keeps waiting for it */
  async start(onFailure: (error: unknown) => void): Promise<void> {
    await mkdir(this.#folder, { mode: 0o700 });
    if (this.#user) await chown(this.#folder, this.#user.uid, this.#user.gid);
    this.#running = this.#serve().catch(onFailure);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.allSettled(this.#fetched.values());
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #serve(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      for (const file of await readdir(this.#folder))
        if (file.endsWith(wantedSuffix)) await this.#supply(file.slice(0, -wantedSuffix.length));
      await delay(pollMs);
    }
  }

  async #supply(name: string): Promise<void> {
    const content = await this.#fetch(name);
    this.#fetched.delete(name);
    if (content !== undefined) {
      const file = join(this.#folder, name);
      const unfinished = `${file}.unfinished`;
      await writeFile(unfinished, content, { mode: 0o600 });
      if (this.#user) await chown(unfinished, this.#user.uid, this.#user.gid);
      await rename(unfinished, file);
      this.#fetchAhead(name);
    }
    await rm(join(this.#folder, `${name}${wantedSuffix}`));
  }

  #fetch(name: string): Promise<Uint8Array | undefined> {
    const known = this.#fetched.get(name);
    if (known !== undefined) return known;
    const fetching = this.#read(name);
    // The awaiting caller gets the error.
    fetching.catch(() => undefined);
    this.#fetched.set(name, fetching);
    return fetching;
  }

  #fetchAhead(name: string): void {
    const place = this.#names.indexOf(name);
    for (const next of this.#names.slice(place + 1, place + 1 + ahead))
      if (next.length === name.length && this.#fetched.size < ahead) void this.#fetch(next);
  }
}
