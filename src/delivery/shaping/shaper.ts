import type { Log } from '../../foundation/log.ts';
import { Lane, type LaneOptions } from './lane.ts';
import type { Pace } from './pace.ts';
import type { Destination, Pacer, Ticket, Wait } from './pacer.ts';
import type { Beat, KnownDestination } from './shaping-store.ts';

/** What the shaper needs of the database. */
export interface ShapingKnowledge {
  beat(beats: readonly Beat[]): Promise<KnownDestination[]>;
  save(
    name: string,
    version: string,
    pace: Pace,
    slowedReason: string | undefined,
  ): Promise<string | undefined>;
}

export interface ShaperParts {
  readonly knowledge: ShapingKnowledge;
  readonly log: Log;
  /** Milliseconds. */
  readonly now: () => number;
  readonly lanes?: Partial<LaneOptions>;
}

const beatMilliseconds = 1_000;
const idleMilliseconds = 300_000;
const laneOptions: LaneOptions = { mostOpen: 60, mostWaiting: 120, patience: 2_500 };

/**
 * Keeps the pace of every destination, together with the other nodes: each tells once a second what it wants and sends,
 * and takes a part of the common pace by that. What a receiver says is written at once.
 */
export class Shaper implements Pacer {
  readonly #parts: ShaperParts;
  readonly #lanes = new Map<string, Lane>();
  readonly #known = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #beatAt: number;
  #beating: Promise<void> | undefined;

  constructor(parts: ShaperParts) {
    this.#parts = parts;
    this.#beatAt = parts.now();
  }

  async admit(destination: Destination, urgent: boolean): Promise<Ticket | Wait> {
    let lane = this.#lanes.get(destination.name);
    if (lane === undefined) {
      lane = this.#open(destination);
      this.#known.set(destination.name, this.#meet(lane));
    }
    // The first messages for a destination wait until it is known what other nodes have learnt.
    await this.#known.get(destination.name);
    return await lane.admit(urgent);
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#beating ??= this.#beat().finally(() => {
        this.#beating = undefined;
      });
    }, beatMilliseconds);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const lane of this.#lanes.values()) lane.close();
    await this.#beating;
  }

  #open(destination: Destination): Lane {
    const { now, lanes } = this.#parts;
    const lane = new Lane(destination, { ...laneOptions, ...lanes }, now, (learnt, what) => {
      this.#parts.log.info(describe(learnt, what), 'a destination asked for less');
      void this.#save(learnt);
    });
    this.#lanes.set(destination.name, lane);
    return lane;
  }

  async #meet(lane: Lane): Promise<void> {
    try {
      const known = await this.#parts.knowledge.beat([beatOf(lane, { demand: 0, sent: 0 })]);
      for (const one of known) lane.adopt(one);
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'the pace of a destination cannot be read');
    } finally {
      this.#known.delete(lane.destination.name);
    }
  }

  async #beat(): Promise<void> {
    const now = this.#parts.now();
    const seconds = Math.max(0.1, (now - this.#beatAt) / 1_000);
    this.#beatAt = now;
    for (const [name, lane] of this.#lanes) {
      if (lane.open === 0 && now - lane.lastUse > idleMilliseconds) this.#lanes.delete(name);
    }
    // Only those that are in use: a service knows many more receivers than it speaks with in a second.
    const lanes = [...this.#lanes.values()].filter((lane) => lane.busy);
    if (lanes.length === 0) return;
    try {
      const beats = lanes.map((lane) => beatOf(lane, lane.measure(seconds)));
      for (const known of await this.#parts.knowledge.beat(beats))
        this.#lanes.get(known.name)?.adopt(known);
      for (const lane of lanes) if (lane.grow()) await this.#save(lane);
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'the pace of destinations cannot be shared');
    }
  }

  /** Where another node has written first, its word is taken with the next beat. */
  async #save(lane: Lane): Promise<void> {
    try {
      const { destination, version, pace, slowedReason } = lane;
      const saved = await this.#parts.knowledge.save(destination.name, version, pace, slowedReason);
      lane.version = saved ?? lane.version;
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'the pace of a destination cannot be kept');
    }
  }
}

function describe({ destination: { name }, pace, slowedReason }: Lane, what: 'pace' | 'session') {
  if (what === 'pace') return { destination: name, rate: pace.rate, reason: slowedReason };
  const { most, reason } = pace.session ?? {};
  return { destination: name, messagesPerConnection: most, reason };
}

function beatOf(
  { destination }: Lane,
  measured: { readonly demand: number; readonly sent: number },
): Beat {
  const { name, label, profile } = destination;
  const { startRate, connections: startConnections } = profile;
  return { name, label, startRate, startConnections, ...measured };
}
