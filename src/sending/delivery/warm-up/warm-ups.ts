import type { WarmUpSchedule } from '../../../accounts/sender/sending-domain.ts';
import { PeriodicTask } from '../../../base/threads/periodic-task.ts';
import type { Log } from '../../../base/values/log.ts';
import type { Source, SourceLimits } from '../direct/source-pools.ts';
import { allowance, dayOf } from './warm-up-plan.ts';
import type { WarmUpStore } from './warm-up-store.ts';

interface Count {
  /** By this node, not shared with the others yet. */
  unshared: number;
  /** Last known total of all nodes; undefined until loaded. */
  shared: number | undefined;
}

const shareIntervalMs = 2_000;

/**
 * Enforces daily warm-up limits across all nodes. Nodes sync every two seconds, so a day's limit can be exceeded by
 * what is sent in that time.
 */
export class WarmUps implements SourceLimits {
  readonly #store: WarmUpStore;
  readonly #now: () => number;
  readonly #log: Log;
  #subjects = new Map<string, Count>();
  #plans: ReadonlyMap<string, WarmUpSchedule> = new Map();
  #day: string;
  readonly #shares = new PeriodicTask(shareIntervalMs, () => this.share());
  #sharing: Promise<void> | undefined;

  constructor(store: WarmUpStore, now: () => number, log: Log) {
    this.#store = store;
    this.#now = now;
    this.#log = log;
    this.#day = dayOf(now());
  }

  /**
   * Uses a subject's daily limit for the recipients of a message, after loading what was already used elsewhere or before a
   * restart. A message with more of them than a whole day allows is the first one of a day.
   * @returns false if today's limit is reached
   */
  async consume(subject: string, warmUp: WarmUpSchedule): Promise<boolean> {
    const limit = allowance(warmUp, this.#today());
    if (limit === undefined) return true;
    // The first sync may have started before the subject was added.
    if (this.#countOf(subject).shared === undefined) await this.share();
    if (this.#countOf(subject).shared === undefined) await this.share();
    const used = this.#usedOf(subject);
    if (used >= limit) return false;
    this.#countOf(subject).unshared += 1;
    return true;
  }

  /** Returns a recipient that was taken but not sent to. */
  giveBack(subject: string): void {
    const count = this.#subjects.get(subject);
    if (count !== undefined) count.unshared -= 1;
  }

  mayUse(source: Source): boolean {
    const plan = this.#plans.get(source.address ?? '');
    const limit = plan && allowance(plan, this.#today());
    return limit === undefined || this.#usedOf(subjectOf(source)) < limit;
  }

  used(source: Source): void {
    if (this.#plans.has(source.address ?? '')) this.#countOf(subjectOf(source)).unshared += 1;
  }

  unused(source: Source): void {
    if (this.#plans.has(source.address ?? '')) this.giveBack(subjectOf(source));
  }

  async start(): Promise<void> {
    await this.share();
    this.#shares.start();
  }

  async stop(): Promise<void> {
    await this.#shares.stop();
    await this.share();
  }

  /** Syncs usage with the other nodes. */
  share(): Promise<void> {
    this.#sharing ??= this.#share().finally(() => {
      this.#sharing = undefined;
    });
    return this.#sharing;
  }

  async #share(): Promise<void> {
    const day = this.#today();
    try {
      this.#plans = await this.#store.sourcePlans();
      // Include what other nodes sent from a source before this node has sent anything.
      for (const address of this.#plans.keys()) this.#countOf(`source:${address}`);
      const counts = [...this.#subjects];
      const uses = counts.map(([subject, { unshared }]) => ({ subject, used: unshared }));
      const shared = uses.length === 0 ? new Map() : await this.#store.share(day, uses);
      if (day !== this.#day) return;
      for (const [index, [subject, count]] of counts.entries()) {
        count.unshared -= uses[index]?.used ?? 0;
        count.shared = shared.get(subject) ?? count.shared ?? 0;
      }
    } catch (error) {
      this.#log.debug({ err: error }, 'could not share warm-up counts');
    }
  }

  #countOf(subject: string): Count {
    const count = this.#subjects.get(subject) ?? { unshared: 0, shared: undefined };
    this.#subjects.set(subject, count);
    return count;
  }

  #usedOf(subject: string): number {
    const count = this.#subjects.get(subject);
    return count === undefined ? 0 : count.unshared + (count.shared ?? 0);
  }

  #today(): string {
    const day = dayOf(this.#now());
    if (day !== this.#day) {
      this.#day = day;
      this.#subjects = new Map();
    }
    return day;
  }
}

function subjectOf(source: Source): string {
  return `source:${source.address ?? ''}`;
}
