import { nextPlace } from '../../queue/put-off-store.ts';
import type { SessionEnd } from '../session-limit.ts';
import type { CrowdTimes } from '../transport.ts';
import { explainPace, showTime } from './explain-wait.ts';
import {
  leastRate,
  type Pace,
  type PaceLimits,
  slowDown,
  speedUp,
  startPace,
  useFewerConnections,
} from './pace.ts';
import type { Destination, Ticket, TicketUse, Wait } from './pacer.ts';
import { lengthenSessions, SessionWatch } from './session-length.ts';
import type { KnownDestination, Override } from './shaping-store.ts';

export interface LaneOptions {
  /** Transactions with one destination at the same time on this node, whatever else is allowed. */
  readonly mostOpen: number;
  /** Messages that may wait in memory for their turn. */
  readonly mostWaiting: number;
  /** How long they may, in milliseconds. */
  readonly patience: number;
}

interface Waiter {
  readonly urgent: boolean;
  readonly give: (answer: Ticket | Wait) => void;
  readonly until: number;
}

/** Who is told that the pace, or the length of sessions, was learnt anew. */
export type OnLearnt = (lane: Lane, what: 'pace' | 'session') => void;

const failuresUntilDown = 3;
const firstDown = 5_000;
const longestDown = 300_000;
/** A transaction that takes longer than this without another one ending makes the destination one that hangs. */
const hangMilliseconds = 5_000;
/** Sooner than that, it is one that does not seem to answer. */
const stuckMilliseconds = 2_000;
/** How far ahead a message is put off, urgent ones and others, where few wait; and at most. */
const horizons = { urgent: 60_000, other: 600_000, most: 1_800_000 } as const;
/** Messages per second that may come back to look; the more wait, the further ahead they are put off. */
const mostReturns = 40;
/** Where the next free time is this far ahead, more messages wait than are worth a look each. */
const crowdedMilliseconds = 5_000;
const leastShare = 0.05;
const newDemand = 0.2;
/** Milliseconds of silence that are made up for by going faster. */
const madeUp = 150;
/** Messages per second that come back to a destination that hangs, or whose pace is being searched for. */
const mostLooks = { hanging: 20, searching: 100 } as const;

/** This node's part of one destination: who may go now, who waits a moment in memory, and who is put off until when. */
export class Lane {
  readonly destination: Destination;
  readonly #options: LaneOptions;
  readonly #now: () => number;
  readonly #onLearnt: OnLearnt;
  readonly #waiting: Waiter[] = [];
  readonly #slots = { urgent: 0, other: 0 };
  /** How many were put off and have not come back yet, about. */
  readonly #sessions = new SessionWatch();
  readonly #away = { urgent: { count: 0, at: 0 }, other: { count: 0, at: 0 } };
  pace: Pace;
  version = '0';
  slowedReason: string | undefined;
  lastUse: number;
  #override: Override = {};
  /** Half until two beats have told who else is there. */
  #share = 0.5;
  #beats = 0;
  #othersSent = 0;
  #open = 0;
  #nextAt = 0;
  #endedAt = 0;
  #asked = 0;
  #begun = 0;
  #demand = 0;
  #sent = 0;
  #failures = 0;
  #downSince = 0;
  #downUntil = 0;
  #downReason = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(
    destination: Destination,
    options: LaneOptions,
    now: () => number,
    onLearnt: OnLearnt,
  ) {
    this.destination = destination;
    this.#options = options;
    this.#now = now;
    this.#onLearnt = onLearnt;
    const { startRate, connections } = destination.profile;
    this.pace = startPace(startRate, connections, now());
    this.lastUse = now();
  }

  get open(): number {
    return this.#open;
  }

  /** True where something has happened since it was measured last, or is under way. */
  get busy(): boolean {
    return this.#asked > 0 || this.#begun > 0 || this.#open > 0 || this.#waiting.length > 0;
  }

  /** What this node wants and sends, per second, since the last call. */
  measure(seconds: number): { readonly demand: number; readonly sent: number } {
    // Messages come in batches; shares that followed each of them would never add up to the whole pace.
    this.#demand =
      this.#demand === 0
        ? this.#asked / seconds
        : this.#demand * (1 - newDemand) + (this.#asked / seconds) * newDemand;
    this.#sent = this.#begun / seconds;
    this.#asked = 0;
    this.#begun = 0;
    return { demand: this.#demand, sent: this.#sent };
  }

  /** Takes over what all nodes know. */
  adopt(known: KnownDestination): void {
    if (known.version !== this.version) {
      if (known.pace.session?.most !== this.pace.session?.most) this.#sessions.restart();
      this.pace = known.pace;
      this.version = known.version;
      this.slowedReason = known.slowedReason;
    }
    this.#override = known.override;
    this.#beats += 1;
    this.#share = this.#shareBeside(known.othersDemand);
    this.#othersSent = known.othersSent;
    this.#pump();
  }

  #shareBeside(othersDemand: number): number {
    if (this.#demand === 0 || this.#beats < 3) return 0.5;
    return Math.max(leastShare, this.#demand / (this.#demand + othersDemand));
  }

  /** Lets the pace grow where it may. @returns true where it did */
  grow(): boolean {
    const before = this.pace;
    if (this.#override.rate === undefined)
      this.pace = speedUp(before, this.#now(), this.#sent + this.#othersSent, this.#limits());
    if (this.#override.messagesPerConnection === undefined) this.#lengthenSessions();
    return this.pace !== before;
  }

  #lengthenSessions(): void {
    const { messagesPerConnection } = this.destination.profile;
    const { full } = this.#sessions;
    const session = lengthenSessions(this.pace.session, messagesPerConnection, this.#now(), full);
    if (session === this.pace.session) return;
    this.pace = { ...this.pace, session };
    this.#sessions.restart();
  }

  /** A ticket at once or after a moment, or until when to wait. */
  admit(urgent: boolean): Promise<Ticket | Wait> {
    const now = this.#now();
    this.lastUse = now;
    this.#asked += 1;
    const refusal = this.#refuse(now, urgent);
    if (refusal !== undefined) return Promise.resolve(refusal);
    if (this.#waiting.length === 0 && this.#mayGo(now)) return Promise.resolve(this.#grant(now));
    if (!this.#hasRoom(now, urgent)) return Promise.resolve(this.#putOff(urgent, now));
    return new Promise((give) => {
      const waiter = { urgent, give, until: now + this.#options.patience };
      const place = urgent ? this.#waiting.findIndex((other) => !other.urgent) : -1;
      this.#waiting.splice(place === -1 ? this.#waiting.length : place, 0, waiter);
      this.#schedule(now);
    });
  }

  /** Sends away everybody who waits. */
  close(): void {
    clearTimeout(this.#timer);
    const now = this.#now();
    for (const waiter of this.#waiting.splice(0)) waiter.give(this.#putOff(waiter.urgent, now));
  }

  #limits(): PaceLimits {
    const { mostRate, connections } = this.destination.profile;
    return { mostRate, mostConnections: this.#override.connections ?? connections };
  }

  /** Messages per second of this node. */
  get #rate(): number {
    return Math.max(leastRate, (this.#override.rate ?? this.pace.rate) * this.#share);
  }

  get #mostOpen(): number {
    if (this.#failures >= failuresUntilDown) return 1;
    const all = this.#override.connections ?? this.pace.connections;
    return Math.max(1, Math.min(Math.floor(all * this.#share), this.#options.mostOpen));
  }

  get #messagesPerConnection(): number {
    const { messagesPerConnection } = this.destination.profile;
    return this.#override.messagesPerConnection ?? this.pace.session?.most ?? messagesPerConnection;
  }

  #refuse(now: number, urgent: boolean): Wait | undefined {
    if (now < this.#downUntil) return this.#waitForServer(now, urgent);
    if (now >= this.pace.blockedUntil) return undefined;
    return this.#putOff(urgent, now, this.pace.blockedUntil);
  }

  /** Until somebody may look again whether a server is there, and then over a time that is longer the more wait. */
  #waitForServer(now: number, urgent: boolean): Wait {
    const kind = urgent ? 'urgent' : 'other';
    this.#horizon(kind, now);
    const { count } = this.#away[kind];
    this.#away[kind].count += 1;
    const pause = this.#downUntil - this.#downSince;
    const span = within(pause, (count / mostReturns) * 1_000, horizons.most);
    const next = this.#downUntil + Math.random() * span;
    const explain = (shown: string): string =>
      `waiting: no server of ${this.destination.label} could be reached at ${showTime(this.#downSince, now)} (${this.#downReason}), next at ${shown} (UTC)`;
    const wait = { milliseconds: next - now, reason: explain(showTime(next, now)) };
    if (span < crowdedMilliseconds) return wait;
    const crowd: CrowdTimes = {
      after: this.#downUntil - now,
      spacing: 1_000 / mostReturns,
      until: this.#downUntil - now + span,
      reason: explain(nextPlace),
      taken: (taken) => {
        this.#away[kind].count += taken;
      },
    };
    return { ...wait, crowd };
  }

  #mayGo(now: number): boolean {
    return this.#open < this.#mostOpen && now >= this.#nextAt;
  }

  /** Nobody waits in memory for a destination that hangs, nor longer than a moment. */
  #hasRoom(now: number, urgent: boolean): boolean {
    const hangs = this.#open >= this.#mostOpen && now - this.#endedAt > hangMilliseconds;
    if (hangs) return false;
    const ahead = urgent
      ? this.#waiting.filter((waiter) => waiter.urgent).length
      : this.#waiting.length;
    const within = ((ahead + 1) / this.#rate) * 1_000 <= this.#options.patience;
    return within && this.#waiting.length < this.#options.mostWaiting;
  }

  #grant(now: number): Ticket {
    this.#open += 1;
    this.#begun += 1;
    if (this.#open === 1) this.#endedAt = now;
    // Tickets leave evenly; a short pause is made up for, a long one is not.
    const interval = 1_000 / this.#rate;
    this.#nextAt = Math.max(this.#nextAt, now - madeUp) + interval;
    let used = false;
    return {
      connections: this.#mostOpen,
      messagesPerConnection: this.#messagesPerConnection,
      done: (use, ends = []) => {
        if (used) return;
        used = true;
        this.#open -= 1;
        this.#learn(use, now);
        this.#learnSessions(ends, use.kind === 'accepted');
        this.#pump();
      },
    };
  }

  #learn(use: TicketUse, begunAt: number): void {
    const now = this.#now();
    if (use.kind === 'unused') return;
    this.#endedAt = now;
    if (use.kind === 'unreachable') {
      this.#fail(use.text, begunAt, now);
      return;
    }
    this.#failures = 0;
    if (use.kind !== 'slowed') return;
    const actual = this.#sent + this.#othersSent;
    const pace =
      use.what === 'messages'
        ? slowDown(this.pace, now, begunAt, actual === 0 ? undefined : actual, use.after)
        : useFewerConnections(this.pace, now, begunAt, this.#open + 1);
    if (pace === this.pace) return;
    this.pace = pace;
    this.slowedReason = use.text.slice(0, 300);
    this.#onLearnt(this, 'pace');
  }

  #learnSessions(ends: readonly SessionEnd[], trusted: boolean): void {
    if (ends.length === 0) return;
    const { messagesPerConnection } = this.destination.profile;
    const known = this.pace.session;
    const session = this.#sessions.learn(ends, trusted, known, messagesPerConnection, this.#now());
    if (session === known) return;
    this.pace = { ...this.pace, session };
    this.#sessions.restart();
    this.#onLearnt(this, 'session');
  }

  /** What began before the last look-away says nothing new. */
  #fail(text: string, begunAt: number, now: number): void {
    if (begunAt < this.#downSince) return;
    this.#failures += 1;
    if (this.#failures < failuresUntilDown) return;
    const pause = Math.min(firstDown * 2 ** (this.#failures - failuresUntilDown), longestDown);
    this.#downSince = now;
    this.#downUntil = now + pause;
    this.#downReason = text.slice(0, 200);
    for (const waiter of this.#waiting.splice(0)) waiter.give(this.#putOff(waiter.urgent, now));
  }

  /** A time of its own for each message that is put off, so that they come back as they can be sent. */
  #putOff(urgent: boolean, now: number, notBefore = 0): Wait {
    const kind = urgent ? 'urgent' : 'other';
    const horizon = this.#horizon(kind, now);
    const hangs = this.#open >= this.#mostOpen && now - this.#endedAt > hangMilliseconds;
    const spacing = 1_000 / (hangs ? mostLooks.hanging : this.#looks);
    const start = Math.max(this.#slots[kind], now + this.#options.patience / 2, notBefore);
    const far = start > now + horizon && start > notBefore;
    const next = far ? Math.max(notBefore, now + horizon * (0.5 + Math.random() / 2)) : start;
    if (!far) this.#slots[kind] = start + spacing;
    this.#away[kind].count += 1;
    const explain = (shown: string): string =>
      hangs ? this.#explainHang(shown, now) : this.#explain(shown, now);
    const wait = { milliseconds: next - now, reason: explain(showTime(next, now)) };
    if (start < now + crowdedMilliseconds || this.#mayGrowFast(now)) return wait;
    const crowd: CrowdTimes = {
      after: start - now,
      spacing,
      until: Math.max(horizon, notBefore - now + horizon),
      reason: explain(nextPlace),
      taken: (count) => this.#takeTimes(kind, spacing, count),
    };
    return { ...wait, crowd };
  }

  /** While the pace is searched for and somebody answers, it may be a hundredfold in half a minute: nobody is sent far away. */
  #mayGrowFast(now: number): boolean {
    const stuck = this.#open >= this.#mostOpen && now - this.#endedAt > stuckMilliseconds;
    return this.pace.bad === undefined && this.#override.rate === undefined && !stuck;
  }

  /** Times that were given out beyond the horizon were chosen at random; they take no place in the row. */
  #takeTimes(kind: 'urgent' | 'other', spacing: number, count: number): void {
    const now = this.#now();
    this.#away[kind].count += count;
    const taken = Math.max(this.#slots[kind], now) + count * spacing;
    this.#slots[kind] = Math.max(
      this.#slots[kind],
      Math.min(taken, now + this.#horizon(kind, now)),
    );
  }

  /** So far ahead that those who come back are few each second, however many wait. */
  #horizon(kind: 'urgent' | 'other', now: number): number {
    const away = this.#away[kind];
    const stay = within(horizons[kind], (away.count / mostReturns) * 1_000, horizons.most);
    away.count *= Math.exp((away.at - now) / stay);
    away.at = now;
    return stay;
  }

  /**
   * Messages per second that come back to look for a turn: more than may go, or the pace could never be used up and grow.
   */
  get #looks(): number {
    const { bad } = this.pace;
    return bad === undefined ? Math.max(mostLooks.searching, this.#rate * 4) : this.#rate * 3;
  }

  #explain(next: string, now: number): string {
    const { label } = this.destination;
    const rate = this.#override.rate ?? this.pace.rate;
    return explainPace({ label, rate, slowedAt: this.pace.slowedAt, next, now });
  }

  #explainHang(next: string, now: number): string {
    return `waiting: all ${this.#open} connections with ${this.destination.label} have been busy since ${showTime(this.#endedAt, now)}, next at ${next} (UTC)`;
  }

  #pump(): void {
    const now = this.#now();
    while (this.#waiting.length > 0 && this.#mayGo(now))
      this.#waiting.shift()?.give(this.#grant(now));
    for (let place = this.#waiting.length - 1; place >= 0; place -= 1) {
      const waiter = this.#waiting[place];
      if (waiter === undefined || now < waiter.until) continue;
      this.#waiting.splice(place, 1);
      waiter.give(this.#putOff(waiter.urgent, now));
    }
    this.#schedule(now);
  }

  #schedule(now: number): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    const turn = this.#open < this.#mostOpen ? this.#nextAt : Number.POSITIVE_INFINITY;
    const until = Math.min(turn, ...this.#waiting.map((waiter) => waiter.until));
    this.#timer = setTimeout(() => this.#pump(), Math.max(1, until - now));
  }
}

function within(least: number, value: number, most: number): number {
  return Math.min(Math.max(least, value), most);
}
