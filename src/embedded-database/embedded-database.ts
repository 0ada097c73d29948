import { EventEmitter } from 'node:events';
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type DatabaseEndpoint, removeTemporarySocketFolder } from './choose-endpoint.ts';
import { clearLeftovers } from './clear-leftovers.ts';
import { writeClusterSettings } from './cluster-settings.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import type { DataFolder } from './data-folder.ts';
import { limitDatabaseLog } from './database-log.ts';
import type { EmbeddedLog } from './embedded-log.ts';
import type { PostgresPrograms } from './postgres-program.ts';
import { type Postmaster, startPostmaster } from './postmaster.ts';
import { type ServiceLock, writeInfoFile } from './service-lock.ts';
import { prepareServiceRole } from './service-role.ts';

interface EmbeddedDatabaseDependencies {
  readonly folder: DataFolder;
  readonly lock: ServiceLock;
  readonly programs: PostgresPrograms;
  readonly endpoint: DatabaseEndpoint;
  readonly admin: ConnectionSettings;
  readonly settings: ConnectionSettings;
  readonly durable: boolean;
  readonly log: EmbeddedLog;
}

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 5_000;
/** A database that ran this long is not failing over and over, in milliseconds. */
const STABLE_AFTER_MS = 30_000;
const CHECK_INTERVAL_MS = 1_000;

/**
 * A PostgreSQL of our own that is kept running.
 *
 * `starting → up ⇄ down → stopped`: up when it answers; down from the moment it ends without
 * being asked to, until a new one answers; stopped by `stop()`, from every other state.
 * Events: `down` (it ended; what needs it should answer 503) and `up` (it answers again).
 */
export class EmbeddedDatabase extends EventEmitter<{ down: []; up: [] }> {
  /** Of the plain role that owns the service's database. */
  readonly settings: ConnectionSettings;
  /** Of the superuser: for the administration of the cluster, such as new databases. */
  readonly admin: ConnectionSettings;
  readonly #dependencies: EmbeddedDatabaseDependencies;
  readonly #stopping = new AbortController();
  readonly #checkTimer: NodeJS.Timeout;
  #postmaster: Postmaster | undefined;
  #launching: Promise<void> | undefined;
  #restartDelayMs = FIRST_DELAY_MS;
  #stopped: Promise<void> | undefined;

  constructor(dependencies: EmbeddedDatabaseDependencies) {
    super();
    this.#dependencies = dependencies;
    this.settings = dependencies.settings;
    this.admin = dependencies.admin;
    this.#checkTimer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
  }

  /** Process of the running PostgreSQL; undefined while there is none. */
  get pid(): number | undefined {
    return this.#postmaster?.pid;
  }

  /** The first start; where it fails, everything is stopped. */
  async start(signal: AbortSignal | undefined): Promise<void> {
    const stop = () => void this.stop();
    signal?.addEventListener('abort', stop);
    try {
      signal?.throwIfAborted();
      await this.#launch();
      signal?.throwIfAborted();
    } catch (error) {
      await this.stop();
      throw signal?.aborted ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Records the address at which the service answers, for those who find the folder in use. */
  announce(url: string): void {
    this.#dependencies.lock.announce(url);
  }

  /** Stops PostgreSQL and frees the data folder; in any state, and as often as one likes. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { endpoint, lock } = this.#dependencies;
    this.#stopping.abort();
    clearInterval(this.#checkTimer);
    try {
      await this.#postmaster?.stop();
      // A launch that was on its way still touches the folder: the lock is freed after it.
      await this.#launching?.catch(() => undefined);
      this.#publishConnection(undefined);
      removeTemporarySocketFolder(endpoint);
    } finally {
      lock.release();
    }
  }

  /** Once a second: keeps the log short, and a database on its way down from lingering there. */
  #check(): void {
    try {
      this.#postmaster?.forceStopIfStopping();
      limitDatabaseLog(this.#dependencies.folder);
    } catch (error) {
      this.#dependencies.log.warn(
        { reason: String(error) },
        "the database's log cannot be shortened",
      );
    }
  }

  #launch(): Promise<void> {
    this.#launching = this.#launchPostmaster();
    return this.#launching;
  }

  /** Starts PostgreSQL, and the watch over it once it answers. */
  async #launchPostmaster(): Promise<void> {
    const { folder, programs, endpoint, durable, log, admin, settings } = this.#dependencies;
    await clearLeftovers(folder, endpoint, log);
    this.#stopping.signal.throwIfAborted();
    writeClusterSettings(folder, endpoint, programs.user, durable);
    const postmaster = startPostmaster(folder, programs, log);
    this.#postmaster = postmaster;
    await postmaster.ready();
    // Before the note that others find the database by.
    await prepareServiceRole(admin, settings);
    const { password: _secret, ...connectionInfo } = settings;
    this.#publishConnection(connectionInfo);
    const readyAt = Date.now();
    void postmaster.ended.then((reason) => {
      if (this.#stopping.signal.aborted) return;
      if (Date.now() - readyAt > STABLE_AFTER_MS) this.#restartDelayMs = FIRST_DELAY_MS;
      void this.#recover(reason);
    });
  }

  /** Brings PostgreSQL back after it ended by itself, until it runs or is no longer wanted. */
  async #recover(reason: string): Promise<void> {
    const { log } = this.#dependencies;
    this.#postmaster = undefined;
    this.#publishConnection(undefined);
    log.warn({ reason }, 'the database ended; starting it again');
    this.emit('down');
    for (;;) {
      try {
        await delay(this.#restartDelayMs, undefined, { signal: this.#stopping.signal });
        this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, MAX_DELAY_MS);
        await this.#launch();
        break;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        log.warn({ reason: String(error) }, 'the database does not start; trying again');
      }
    }
    log.info({}, 'the database is back');
    this.emit('up');
  }

  /** Lets other processes of this installation find the database, or know that there is none. */
  #publishConnection(connectionInfo: object | undefined): void {
    const { folder, log } = this.#dependencies;
    try {
      if (connectionInfo) writeInfoFile(folder.databaseInfoFile, connectionInfo);
      else rmSync(folder.databaseInfoFile, { force: true });
    } catch (error) {
      // A full disk, say: the service itself does not need the note.
      log.warn({ reason: String(error) }, `${folder.databaseInfoFile} could not be changed`);
    }
  }
}
