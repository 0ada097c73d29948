import { nextTimePlaceholder } from '../../queue/defer-backlog-store.ts';
import type { SmtpSessionEnd } from '../smtp-session-limit.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { type DeferPriority, DeferSchedule, type DeferTime } from './defer-schedule.ts';
import { explainThrottle, formatUtcTime } from './explain-throttle.ts';
import type { Destination, LimiterDelay, LimiterSlot, SlotOutcome } from './sending-limiter.ts';
import type { DestinationState, RateOverride } from './shaping-store.ts';
import { lengthenSmtpSessions, SmtpSessionTracker } from './smtp-session-length.ts';
import {
  initialThrottleState,
  minRate,
  slowDown,
  speedUp,
  type ThrottleLimits,
  type ThrottleState,
  useFewerConnections,
} from './throttle-state.ts';

/** Max concurrent transactions with one destination on this node, regardless of other limits. */
const maxConcurrent = 60;
/** Max messages that wait in memory for a slot. */
const maxQueued = 120;
/** Max wait in memory, in milliseconds. */
const maxWaitMs = 2_500;

interface Waiter {
  readonly urgent: boolean;
  readonly resolve: (result: LimiterSlot | LimiterDelay) => void;
  readonly until: number;
}

/** Called when a new rate or session length was learned. */
export type OnLimitLearned = (limiter: DestinationLimiter, what: 'rate' | 'session') => void;

/** A destination hangs if all its connections are busy and none has finished a transaction for this long. */
const hungAfterMs = 5_000;
/** After this long, its rate isn't expected to grow soon. */
const stuckAfterMs = 2_000;
const minShare = 0.05;
const demandSmoothing = 0.2;
/** Max idle time, in milliseconds, that can be caught up on by sending faster. */
const maxCatchUpMs = 150;
/** Rechecks per second while a destination hangs or its rate limit is being searched for. */
const maxRechecksPerSecond = { hanging: 20, searching: 100 } as const;

/** Decides which messages to one destination this node sends now, holds briefly in memory or defers. */
export class DestinationLimiter {
  readonly destination: Destination;
  readonly #now: () => number;
  readonly #onLearned: OnLimitLearned;
  readonly #waiting: Waiter[] = [];
  readonly #sessions = new SmtpSessionTracker();
  readonly #breaker = new CircuitBreaker();
  readonly #deferSchedule: DeferSchedule;
  throttle: ThrottleState;
  version = '0';
  slowedReason: string | null = null;
  lastUsedAt: number;
  #override: RateOverride = {};
  /** Assume half until two heartbeats have shown which other nodes are active. */
  #share = 0.5;
  #heartbeats = 0;
  #othersSent = 0;
  #open = 0;
  #nextAt = 0;
  #endedAt = 0;
  #requested = 0;
  #started = 0;
  #demand = 0;
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(destination: Destination, now: () => number, onLearned: OnLimitLearned) {
    this.destination = destination;
    this.#now = now;
    this.#deferSchedule = new DeferSchedule(now);
    this.#onLearned = onLearned;
    const { startRate, connections } = destination.profile;
    this.throttle = initialThrottleState(startRate, connections, now());
    this.lastUsedAt = now();
  }

  get open(): number {
    return this.#open;
  }

  /** True if there was activity since the last measurement or is some now. */
  get busy(): boolean {
    return this.#requested > 0 || this.#started > 0 || this.#open > 0 || this.#waiting.length > 0;
  }

  /** This node's demand and throughput per second since the last call. */
  measure(seconds: number): { readonly demand: number; readonly sent: number } {
    // Smoothed because messages arrive in batches; otherwise the nodes' shares would never add up to the full rate.
    this.#demand =
      this.#demand === 0
        ? this.#requested / seconds
        : this.#demand * (1 - demandSmoothing) + (this.#requested / seconds) * demandSmoothing;
    this.#sent = this.#started / seconds;
    this.#requested = 0;
    this.#started = 0;
    return { demand: this.#demand, sent: this.#sent };
  }

  /** Adopts the state shared by all nodes. */
  adopt(shared: DestinationState): void {
    if (shared.version !== this.version) {
      if (shared.throttle.session?.maxMessages !== this.throttle.session?.maxMessages)
        this.#sessions.restart();
      this.throttle = shared.throttle;
      this.version = shared.version;
      this.slowedReason = shared.slowedReason;
    }
    this.#override = shared.override;
    this.#heartbeats += 1;
    this.#share = this.#shareWith(shared.othersDemand);
    this.#othersSent = shared.othersSent;
    this.#pump();
  }

  #shareWith(othersDemand: number): number {
    if (this.#demand === 0 || this.#heartbeats < 3) return 0.5;
    return Math.max(minShare, this.#demand / (this.#demand + othersDemand));
  }

  /**
   * Raises the rate if allowed.
   * @returns true if it changed
   */
  grow(): boolean {
    const before = this.throttle;
    if (this.#override.rate === undefined)
      this.throttle = speedUp(before, this.#now(), this.#sent + this.#othersSent, this.#limits());
    if (this.#override.messagesPerConnection === undefined) this.#lengthenSessions();
    return this.throttle !== before;
  }

  #lengthenSessions(): void {
    const { messagesPerConnection } = this.destination.profile;
    const { full } = this.#sessions;
    const session = lengthenSmtpSessions(
      this.throttle.session,
      messagesPerConnection,
      this.#now(),
      full,
    );
    if (session === this.throttle.session) return;
    this.throttle = { ...this.throttle, session };
    this.#sessions.restart();
  }

  /** A slot, immediately or after a short wait, or the time to defer to. */
  admit(urgent: boolean): Promise<LimiterSlot | LimiterDelay> {
    const now = this.#now();
    this.lastUsedAt = now;
    this.#requested += 1;
    const refusal = this.#refuse(now, urgent);
    if (refusal !== undefined) return Promise.resolve(refusal);
    if (this.#waiting.length === 0 && this.#canSend(now)) return Promise.resolve(this.#grant(now));
    if (!this.#hasCapacity(now, urgent)) return Promise.resolve(this.#defer(urgent, now));
    return new Promise((resolve) => {
      const waiter = { urgent, resolve, until: now + maxWaitMs };
      const index = urgent ? this.#waiting.findIndex((other) => !other.urgent) : -1;
      this.#waiting.splice(index === -1 ? this.#waiting.length : index, 0, waiter);
      this.#schedule(now);
    });
  }

  /** Defers all waiting messages. */
  close(): void {
    clearTimeout(this.#timer);
    this.#deferWaiting(this.#now());
  }

  #limits(): ThrottleLimits {
    const { maxRate, connections } = this.destination.profile;
    return { maxRate, maxConnections: this.#override.connections ?? connections };
  }

  /** This node's messages per second. */
  get #rate(): number {
    return Math.max(minRate, (this.#override.rate ?? this.throttle.rate) * this.#share);
  }

  get #maxConnections(): number {
    if (this.#breaker.isOpen) return 1;
    const all = this.#override.connections ?? this.throttle.connections;
    return Math.max(1, Math.min(Math.floor(all * this.#share), maxConcurrent));
  }

  get #messagesPerConnection(): number {
    const { messagesPerConnection } = this.destination.profile;
    return (
      this.#override.messagesPerConnection ??
      this.throttle.session?.maxMessages ??
      messagesPerConnection
    );
  }

  #refuse(now: number, urgent: boolean): LimiterDelay | undefined {
    if (now < this.#breaker.openUntil) return this.#waitForServer(urgent, now);
    if (now >= this.throttle.blockedUntil) return undefined;
    return this.#defer(urgent, now, this.throttle.blockedUntil);
  }

  #waitForServer(urgent: boolean, now: number): LimiterDelay {
    const { openUntil: until, pauseMs: pause } = this.#breaker;
    const back = this.#deferSchedule.spread(priorityOf(urgent), now, until, pause);
    return delayUntil(back, now, (next) =>
      this.#breaker.explain(this.destination.label, next, now),
    );
  }

  #canSend(now: number): boolean {
    return this.#open < this.#maxConnections && now >= this.#nextAt;
  }

  /** Messages don't wait in memory for a hanging destination, nor for long. */
  #hasCapacity(now: number, urgent: boolean): boolean {
    if (this.#isStalled(now, hungAfterMs)) return false;
    const ahead = urgent
      ? this.#waiting.filter((waiter) => waiter.urgent).length
      : this.#waiting.length;
    const within = ((ahead + 1) / this.#rate) * 1_000 <= maxWaitMs;
    return within && this.#waiting.length < maxQueued;
  }

  #grant(now: number): LimiterSlot {
    this.#open += 1;
    this.#started += 1;
    if (this.#open === 1) this.#endedAt = now;
    // Slots are spaced evenly; short pauses are caught up on, long ones aren't.
    const interval = 1_000 / this.#rate;
    this.#nextAt = Math.max(this.#nextAt, now - maxCatchUpMs) + interval;
    let used = false;
    return {
      connections: this.#maxConnections,
      messagesPerConnection: this.#messagesPerConnection,
      release: (use, ends = []) => {
        if (used) return;
        used = true;
        this.#open -= 1;
        this.#learn(use, now);
        this.#learnSessions(ends, use.kind === 'accepted');
        this.#pump();
      },
    };
  }

  #learn(use: SlotOutcome, begunAt: number): void {
    const now = this.#now();
    if (use.kind === 'unused') return;
    this.#endedAt = now;
    if (use.kind === 'unreachable') {
      if (this.#breaker.recordFailure(use.text, begunAt, now)) this.#deferWaiting(now);
      return;
    }
    this.#breaker.recordSuccess();
    if (use.kind !== 'slowed') return;
    const actual = this.#sent + this.#othersSent;
    const throttle =
      use.what === 'messages'
        ? slowDown(this.throttle, now, begunAt, actual === 0 ? undefined : actual, use.after)
        : useFewerConnections(this.throttle, now, begunAt, this.#open + 1);
    if (throttle === this.throttle) return;
    this.throttle = throttle;
    this.slowedReason = use.text.slice(0, 300);
    this.#onLearned(this, 'rate');
  }

  #learnSessions(ends: readonly SmtpSessionEnd[], trusted: boolean): void {
    if (ends.length === 0) return;
    const { messagesPerConnection } = this.destination.profile;
    const shared = this.throttle.session;
    const session = this.#sessions.learn(ends, trusted, shared, messagesPerConnection, this.#now());
    if (session === shared) return;
    this.throttle = { ...this.throttle, session };
    this.#sessions.restart();
    this.#onLearned(this, 'session');
  }

  #deferWaiting(now: number): void {
    for (const waiter of this.#waiting.splice(0)) waiter.resolve(this.#defer(waiter.urgent, now));
  }

  #defer(urgent: boolean, now: number, notBefore = 0): LimiterDelay {
    const hung = this.#isStalled(now, hungAfterMs);
    const back = this.#deferSchedule.nextSlot(priorityOf(urgent), now, {
      earliest: now + maxWaitMs / 2,
      notBefore,
      spacing: 1_000 / (hung ? maxRechecksPerSecond.hanging : this.#recheckRate),
    });
    const explain = (next: string): string =>
      hung ? this.#explainHang(next, now) : this.#explain(next, now);
    return delayUntil(this.#mayGrowFast(now) ? { at: back.at } : back, now, explain);
  }

  /**
   * While the rate is being searched for and the server replies, it can grow a hundredfold in 30 seconds, so don't
   * defer messages far ahead.
   */
  #mayGrowFast(now: number): boolean {
    const stuck = this.#isStalled(now, stuckAfterMs);
    return this.throttle.bad === undefined && this.#override.rate === undefined && !stuck;
  }

  /** True if all connections are busy and none has finished a transaction for this long. */
  #isStalled(now: number, stalledMs: number): boolean {
    return this.#open >= this.#maxConnections && now - this.#endedAt > stalledMs;
  }

  /** Rechecks per second. Higher than the rate, which could otherwise never be used up and grow. */
  get #recheckRate(): number {
    const { bad } = this.throttle;
    return bad === undefined
      ? Math.max(maxRechecksPerSecond.searching, this.#rate * 4)
      : this.#rate * 3;
  }

  #explain(next: string, now: number): string {
    const { label } = this.destination;
    const rate = this.#override.rate ?? this.throttle.rate;
    return explainThrottle({ label, rate, slowedAt: this.throttle.slowedAt, next, now });
  }

  #explainHang(next: string, now: number): string {
    return `waiting: all ${this.#open} connections to ${this.destination.label} have been busy since ${formatUtcTime(this.#endedAt, now)}, next at ${next} (UTC)`;
  }

  #pump(): void {
    const now = this.#now();
    while (this.#waiting.length > 0 && this.#canSend(now))
      this.#waiting.shift()?.resolve(this.#grant(now));
    for (let index = this.#waiting.length - 1; index >= 0; index -= 1) {
      const waiter = this.#waiting[index];
      if (waiter === undefined || now < waiter.until) continue;
      this.#waiting.splice(index, 1);
      waiter.resolve(this.#defer(waiter.urgent, now));
    }
    this.#schedule(now);
  }

  #schedule(now: number): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    const turn = this.#open < this.#maxConnections ? this.#nextAt : Number.POSITIVE_INFINITY;
    const until = Math.min(turn, ...this.#waiting.map((waiter) => waiter.until));
    this.#timer = setTimeout(() => this.#pump(), Math.max(1, until - now));
  }
}

function priorityOf(urgent: boolean): DeferPriority {
  return urgent ? 'urgent' : 'other';
}

/** @param explain gives the reason, with the time formatted for display */
function delayUntil(
  { at, backlog }: DeferTime,
  now: number,
  explain: (next: string) => string,
): LimiterDelay {
  const wait = { delayMs: at - now, reason: explain(formatUtcTime(at, now)) };
  return backlog === undefined
    ? wait
    : { ...wait, backlog: { ...backlog, reason: explain(nextTimePlaceholder) } };
}
