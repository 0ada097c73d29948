import { EventEmitter } from 'node:events';
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type DatabaseEndpoint, removeTemporarySocketFolder } from './choose-endpoint.ts';
import { clearLeftovers } from './clear-leftovers.ts';
import { type ClusterSetting, writeClusterSettings } from './cluster-settings.ts';
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
  readonly moreSettings: readonly ClusterSetting[];
  readonly log: EmbeddedLog;
}

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 5_000;
/** After running this long (in milliseconds), a database is not in a crash loop. */
const STABLE_AFTER_MS = 30_000;
const CHECK_INTERVAL_MS = 1_000;

/**
 * A supervised PostgreSQL server.
 *
 * `starting → up ⇄ down → stopped`: up while it responds; down from an unexpected exit until a new one responds;
 * stopped by `stop()`, from any state.
 * Events: `down` (it exited; dependents should return 503) and `up` (it responds again).
 */
export class EmbeddedDatabase extends EventEmitter<{ down: []; up: [] }> {
  /** For the unprivileged role that owns the service's database. */
  readonly settings: ConnectionSettings;
  /** For the superuser: cluster administration, such as new databases. */
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

  /** The files of this database. */
  get folder(): DataFolder {
    return this.#dependencies.folder;
  }

  /** Process id of the running PostgreSQL; undefined while there is none. */
  get pid(): number | undefined {
    return this.#postmaster?.pid;
  }

  /** The first start; if it fails, everything is stopped. */
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

  /** Publishes the service's URL for other processes that find the folder in use. */
  announce(url: string): void {
    this.#dependencies.lock.announce(url);
  }

  /** Stops PostgreSQL and releases the data folder; can be called in any state and repeatedly. */
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
      // A launch in progress still uses the folder, so release the lock afterwards.
      await this.#launching?.catch(() => undefined);
      this.#publishConnection(undefined);
      removeTemporarySocketFolder(endpoint);
    } finally {
      lock.release();
    }
  }

  /** Runs once a second: limits the log's size and finishes a shutdown that another process began. */
  #check(): void {
    try {
      this.#postmaster?.forceStopIfStopping();
      limitDatabaseLog(this.#dependencies.folder);
    } catch (error) {
      this.#dependencies.log.warn({ reason: String(error) }, 'could not truncate the database log');
    }
  }

  #launch(): Promise<void> {
    this.#launching = this.#launchPostmaster();
    return this.#launching;
  }

  /** Starts PostgreSQL, and supervises it once it responds. */
  async #launchPostmaster(): Promise<void> {
    const { folder, programs, endpoint, durable, moreSettings, log, admin, settings } =
      this.#dependencies;
    await clearLeftovers(folder, endpoint, log);
    this.#stopping.signal.throwIfAborted();
    writeClusterSettings(folder, endpoint, programs.user, durable, moreSettings);
    const postmaster = startPostmaster(folder, programs, log);
    this.#postmaster = postmaster;
    await postmaster.ready();
    // Before publishing how others can connect.
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

  /** Restarts PostgreSQL after an unexpected exit, retrying until it runs or `stop()` is called. */
  async #recover(reason: string): Promise<void> {
    const { log } = this.#dependencies;
    this.#postmaster = undefined;
    this.#publishConnection(undefined);
    log.warn({ reason }, 'the database exited; restarting it');
    this.emit('down');
    for (;;) {
      try {
        await delay(this.#restartDelayMs, undefined, { signal: this.#stopping.signal });
        this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, MAX_DELAY_MS);
        await this.#launch();
        break;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        log.warn({ reason: String(error) }, 'the database does not start; retrying');
      }
    }
    log.info({}, 'the database is back');
    this.emit('up');
  }

  /** Writes how other processes of this installation can connect, or removes that file. */
  #publishConnection(connectionInfo: object | undefined): void {
    const { folder, log } = this.#dependencies;
    try {
      if (connectionInfo) writeInfoFile(folder.databaseInfoFile, connectionInfo);
      else rmSync(folder.databaseInfoFile, { force: true });
    } catch (error) {
      // Not fatal, for example on a full disk, because the service itself doesn't need the file.
      log.warn({ reason: String(error) }, `could not write ${folder.databaseInfoFile}`);
    }
  }
}
