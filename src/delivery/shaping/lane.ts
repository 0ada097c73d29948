import { nextPlace } from '../../queue/put-off-store.ts';
import type { SessionEnd } from '../session-limit.ts';
import { explainPace, showTime } from './explain-wait.ts';
import { Outage } from './outage.ts';
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
import { type Return, ReturnTimes, type Row } from './return-times.ts';
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

/** A transaction that takes longer than this without another one ending makes the destination one that hangs. */
const hangMilliseconds = 5_000;
/** Sooner than that, it is one that does not seem to answer. */
const stuckMilliseconds = 2_000;
const leastShare = 0.05;
const newDemand = 0.2;
/** Milliseconds of silence that are made up for by going faster. */
const madeUp = 150;
/** Messages per second that come back to a destination that hangs, or whose pace is being searched for. */
const mostLooks = { hanging: 20, searching: 100 } as const;

/** This node's part of one destination: who may go now, who waits a moment in memory, and who is put off. */
export class Lane {
  readonly destination: Destination;
  readonly #options: LaneOptions;
  readonly #now: () => number;
  readonly #onLearnt: OnLearnt;
  readonly #waiting: Waiter[] = [];
  readonly #sessions = new SessionWatch();
  readonly #outage = new Outage();
  readonly #returns: ReturnTimes;
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
    this.#returns = new ReturnTimes(now);
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
    this.#sendAway(this.#now());
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
    if (this.#outage.lasts) return 1;
    const all = this.#override.connections ?? this.pace.connections;
    return Math.max(1, Math.min(Math.floor(all * this.#share), this.#options.mostOpen));
  }

  get #messagesPerConnection(): number {
    const { messagesPerConnection } = this.destination.profile;
    return this.#override.messagesPerConnection ?? this.pace.session?.most ?? messagesPerConnection;
  }

  #refuse(now: number, urgent: boolean): Wait | undefined {
    if (now < this.#outage.until) return this.#waitForServer(urgent, now);
    if (now >= this.pace.blockedUntil) return undefined;
    return this.#putOff(urgent, now, this.pace.blockedUntil);
  }

  #waitForServer(urgent: boolean, now: number): Wait {
    const { until, pause } = this.#outage;
    const back = this.#returns.spread(rowOf(urgent), now, until, pause);
    return waitUntil(back, now, (next) => this.#outage.explain(this.destination.label, next, now));
  }

  #mayGo(now: number): boolean {
    return this.#open < this.#mostOpen && now >= this.#nextAt;
  }

  /** Nobody waits in memory for a destination that hangs, nor longer than a moment. */
  #hasRoom(now: number, urgent: boolean): boolean {
    if (this.#isSilent(now, hangMilliseconds)) return false;
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
      if (this.#outage.fail(use.text, begunAt, now)) this.#sendAway(now);
      return;
    }
    this.#outage.end();
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

  #sendAway(now: number): void {
    for (const waiter of this.#waiting.splice(0)) waiter.give(this.#putOff(waiter.urgent, now));
  }

  #putOff(urgent: boolean, now: number, notBefore = 0): Wait {
    const hangs = this.#isSilent(now, hangMilliseconds);
    const back = this.#returns.inRow(rowOf(urgent), now, {
      earliest: now + this.#options.patience / 2,
      notBefore,
      spacing: 1_000 / (hangs ? mostLooks.hanging : this.#looks),
    });
    const explain = (next: string): string =>
      hangs ? this.#explainHang(next, now) : this.#explain(next, now);
    return waitUntil(this.#mayGrowFast(now) ? { at: back.at } : back, now, explain);
  }

  /** While the pace is searched for and somebody answers, it may be a hundredfold in half a minute: nobody is sent far away. */
  #mayGrowFast(now: number): boolean {
    const stuck = this.#isSilent(now, stuckMilliseconds);
    return this.pace.bad === undefined && this.#override.rate === undefined && !stuck;
  }

  /** True where all connections are busy, and none has come to an end for so long. */
  #isSilent(now: number, milliseconds: number): boolean {
    return this.#open >= this.#mostOpen && now - this.#endedAt > milliseconds;
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

function rowOf(urgent: boolean): Row {
  return urgent ? 'urgent' : 'other';
}

/** @param explain says why, with the time as it is to be shown */
function waitUntil({ at, crowd }: Return, now: number, explain: (next: string) => string): Wait {
  const wait = { milliseconds: at - now, reason: explain(showTime(at, now)) };
  return crowd === undefined ? wait : { ...wait, crowd: { ...crowd, reason: explain(nextPlace) } };
}
