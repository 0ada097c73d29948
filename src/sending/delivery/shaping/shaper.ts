import { PeriodicTask } from '../../../base/threads/periodic-task.ts';
import type { Log } from '../../../base/values/log.ts';
import { DestinationLimiter } from './destination-limiter.ts';
import type { Destination, LimiterDelay, LimiterSlot } from './sending-limiter.ts';
import type { DestinationHeartbeat, ShapingStore } from './shaping-store.ts';

const heartbeatIntervalMs = 1_000;
const idleMs = 300_000;

/**
 * Maintains every destination's rate together with the other nodes: each node reports its demand and throughput every
 * second and uses its share of the rate. A limit learned from a reply is saved immediately.
 */
export class Shaper {
  readonly #store: ShapingStore;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #limiters = new Map<string, DestinationLimiter>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #heartbeats = new PeriodicTask(heartbeatIntervalMs, () => this.#heartbeat());
  #heartbeatAt: number;

  /** @param now milliseconds */
  constructor(store: ShapingStore, log: Log, now: () => number) {
    this.#store = store;
    this.#log = log;
    this.#now = now;
    this.#heartbeatAt = now();
  }

  /** When mail may be sent to a destination. */
  async admit(destination: Destination, urgent: boolean): Promise<LimiterSlot | LimiterDelay> {
    let limiter = this.#limiters.get(destination.name);
    if (limiter === undefined) {
      limiter = this.#open(destination);
      this.#loading.set(destination.name, this.#load(limiter));
    }
    // A destination's first messages wait until the shared state is loaded.
    await this.#loading.get(destination.name);
    return await limiter.admit(urgent);
  }

  start(): void {
    this.#heartbeats.start();
  }

  async stop(): Promise<void> {
    for (const limiter of this.#limiters.values()) limiter.close();
    await this.#heartbeats.stop();
  }

  #open(destination: Destination): DestinationLimiter {
    const limiter = new DestinationLimiter(destination, this.#now, (learned, what) => {
      this.#log.info(describe(learned, what), 'learned a lower limit of a destination');
      void this.#save(learned);
    });
    this.#limiters.set(destination.name, limiter);
    return limiter;
  }

  async #load(limiter: DestinationLimiter): Promise<void> {
    try {
      const states = await this.#store.heartbeat([heartbeatOf(limiter, { demand: 0, sent: 0 })]);
      for (const state of states) limiter.adopt(state);
    } catch (error) {
      this.#log.debug({ err: error }, 'could not read the rate of a destination');
    } finally {
      this.#loading.delete(limiter.destination.name);
    }
  }

  async #heartbeat(): Promise<void> {
    const now = this.#now();
    const seconds = Math.max(0.1, (now - this.#heartbeatAt) / 1_000);
    this.#heartbeatAt = now;
    for (const [name, limiter] of this.#limiters) {
      if (limiter.open === 0 && now - limiter.lastUsedAt > idleMs) this.#limiters.delete(name);
    }
    // Only busy ones: a node knows far more destinations than it sends to in any second.
    const limiters = [...this.#limiters.values()].filter((limiter) => limiter.busy);
    if (limiters.length === 0) return;
    try {
      const heartbeats = limiters.map((limiter) => heartbeatOf(limiter, limiter.measure(seconds)));
      for (const state of await this.#store.heartbeat(heartbeats))
        this.#limiters.get(state.name)?.adopt(state);
      for (const limiter of limiters) if (limiter.grow()) await this.#save(limiter);
    } catch (error) {
      this.#log.debug({ err: error }, 'could not share the rates of destinations');
    }
  }

  /** If another node saved first, its state is adopted with the next heartbeat. */
  async #save(limiter: DestinationLimiter): Promise<void> {
    try {
      const { destination, version, throttle, slowedReason } = limiter;
      const saved = await this.#store.save(destination.name, version, throttle, slowedReason);
      limiter.version = saved ?? limiter.version;
    } catch (error) {
      this.#log.debug({ err: error }, 'could not save the rate of a destination');
    }
  }
}

function describe(
  { destination: { name }, throttle, slowedReason }: DestinationLimiter,
  what: 'rate' | 'session',
) {
  if (what === 'rate') return { destination: name, rate: throttle.rate, reason: slowedReason };
  const { maxMessages, reason } = throttle.session ?? {};
  return { destination: name, messagesPerConnection: maxMessages, reason };
}

function heartbeatOf(
  { destination }: DestinationLimiter,
  measured: { readonly demand: number; readonly sent: number },
): DestinationHeartbeat {
  const { name, label, profile } = destination;
  const { startRate, connections: startConnections } = profile;
  return { name, label, startRate, startConnections, ...measured };
}
