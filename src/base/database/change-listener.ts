import type { Log } from '../values/log.ts';
import { within } from '../values/within.ts';
import { changeChannel } from './announce.ts';
import { clientSettings, type DatabaseSettings } from './open-database.ts';
import { ServiceClient } from './service-client.ts';

/** Drops the entry `key` from a cache, or everything for '*'. */
export type DropEntry = (key: string) => void;

const heartbeatMs = 300;
/** Between heartbeats while no cache is read: only to notice that the connection is lost. */
const restingHeartbeatMs = 3_000;
/** For how long after a read heartbeats go on, so that the next read is likely to find caches trusted. */
const inUseMs = 10_000;
const silenceTimeoutMs = 1_000;
const reconnectDelayMs = 250;
/** A server that restarts is back sooner. */
const outageMs = 5_000;
const outageLogIntervalMs = 60_000;

/**
 * Receives change notifications from all nodes on its own connection, which must go straight to the database (LISTEN doesn't
 * work through a transaction pooler). If no heartbeat succeeds for a second, caches are bypassed until one does. They are
 * cleared when it reconnects.
 */
export class ChangeListener {
  readonly #settings: DatabaseSettings;
  readonly #log: Log;
  readonly #subscribers = new Map<string, DropEntry[]>();
  #client: ServiceClient | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Monotonic time at which the last acknowledged heartbeat was sent; all earlier changes have been received. */
  #reliableUntil = 0;
  /** Monotonic time of the last question whether caches can be trusted. */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The next heartbeat is one of a listener at rest. */
  #resting = false;
  #closed = false;
  /** Monotonic time at which the connection was lost; undefined while there is one. */
  #lostAt: number | undefined;
  #nextOutageLogAt = 0;

  constructor(settings: DatabaseSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Subscribes a cache to a topic; a topic can have several subscribers. */
  subscribe(topic: string, drop: DropEntry): void {
    const list = this.#subscribers.get(topic) ?? [];
    list.push(drop);
    this.#subscribers.set(topic, list);
  }

  /**
   * False while changes may have been missed; caches must be bypassed then. That includes the first read after a rest, which
   * ends it.
   */
  isReliable(): boolean {
    this.#askedAt = performance.now();
    if (this.#resting) this.#schedule();
    return this.#client !== undefined && performance.now() - this.#reliableUntil < silenceTimeoutMs;
  }

  /**
   * Resolves once all changes committed so far have been received. Waits at most as long as caches stay trusted, and never
   * rejects.
   */
  async catchUp(): Promise<void> {
    await this.#client?.query('select 1').catch(() => undefined);
  }

  /** Connects and starts the heartbeat. Resolves once connected or after the first failure, and keeps retrying. */
  async start(): Promise<void> {
    await this.#connect();
    this.#schedule();
  }

  /** Closes the connection; caches are bypassed from then on. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#dropClient();
  }

  #schedule(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const now = performance.now();
    this.#resting = this.#client !== undefined && now - this.#askedAt > inUseMs;
    const interval = this.#resting ? restingHeartbeatMs : heartbeatMs;
    // Measured from when the query was sent, because a slow response may already be stale.
    const next = this.#reliableUntil + interval - now;
    const pause = this.#client === undefined ? reconnectDelayMs : Math.max(0, next);
    this.#timer = setTimeout(
      () => void this.#sendHeartbeat().finally(() => this.#schedule()),
      pause,
    );
    this.#timer.unref();
  }

  /** PostgreSQL sends pending notifications before its response, so a response proves that none were missed. */
  async #sendHeartbeat(): Promise<void> {
    this.#resting = false;
    const client = this.#client;
    if (client === undefined) return this.#connect();
    const requestedAt = performance.now();
    try {
      await within(client.query('select 1'), silenceTimeoutMs, () => {
        throw new Error('no response within a second');
      });
      this.#reliableUntil = requestedAt;
    } catch (error) {
      if (!this.#closed) this.#handleLostConnection(error);
    }
  }

  async #connect(): Promise<void> {
    const client = new ServiceClient({
      ...clientSettings(this.#settings, 'signalpost changes'),
      connectionTimeoutMillis: silenceTimeoutMs,
      query_timeout: silenceTimeoutMs,
    });
    client.on('error', (error) => {
      if (this.#client === client) this.#handleLostConnection(error);
    });
    client.on('notification', (message) => this.#handleNotification(message.payload ?? ''));
    let requestedAt = 0;
    try {
      await client.connect();
      requestedAt = performance.now();
      await client.query(`listen ${changeChannel}`);
    } catch (error) {
      this.#logOutage(error);
      client.end().catch(() => undefined);
      return;
    }
    if (this.#closed) {
      await client.end().catch(() => undefined);
      return;
    }
    for (const list of this.#subscribers.values()) for (const drop of list) drop('*');
    this.#client = client;
    this.#reliableUntil = requestedAt;
    this.#logRecovery();
  }

  #handleNotification(payload: string): void {
    const colon = payload.indexOf(':');
    const topic = payload.slice(0, colon);
    for (const drop of this.#subscribers.get(topic) ?? []) drop(payload.slice(colon + 1));
  }

  #handleLostConnection(error: unknown): void {
    this.#log.warn(
      { err: error },
      'lost the connection to the database; bypassing caches until it is back',
    );
    this.#lostAt = performance.now();
    this.#nextOutageLogAt = this.#lostAt + outageMs;
    this.#client?.suspectServer();
    void this.#dropClient();
  }

  /** Tells of an outage once it is long enough to be one, and then once a minute. */
  #logOutage(error: unknown): void {
    const now = performance.now();
    this.#lostAt ??= now;
    if (now < this.#nextOutageLogAt) return;
    this.#nextOutageLogAt = now + outageLogIntervalMs;
    const seconds = Math.round((now - this.#lostAt) / 1_000);
    this.#log.error(
      { err: error, seconds, advice: 'Check the database’s server and the network to it.' },
      'the database does not respond; sends get 503, and deliveries wait',
    );
  }

  #logRecovery(): void {
    if (this.#lostAt === undefined) return;
    const seconds = Math.round((performance.now() - this.#lostAt) / 1_000);
    this.#lostAt = undefined;
    this.#log.info({ seconds }, 'the database responds again');
  }

  async #dropClient(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }
}
