import type { SmtpSessionLength } from './smtp-session-length.ts';

/**
 * A destination's learned limits, shared by all nodes. The rate grows quickly until the first rejection sets `bad`,
 * then stays just below it.
 */
export interface ThrottleState {
  /** Messages per second. */
  readonly rate: number;
  /** The highest rate that worked, lowered when it turns out to be too high. */
  readonly good: number;
  /** Mail above this rate is rejected. Undefined while the limit is still being searched for. */
  readonly bad: number | undefined;
  readonly connections: number;
  /** Last rate change, in milliseconds of the caller's clock. */
  readonly changedAt: number;
  readonly connectionsChangedAt: number;
  /** When the receiver last throttled us, or undefined. */
  readonly slowedAt: number | undefined;
  /** Nothing is sent before this time. */
  readonly blockedUntil: number;
  /** Undefined: connections carry as many messages as the profile says. */
  readonly session: SmtpSessionLength | undefined;
}

export interface ThrottleLimits {
  readonly maxRate: number;
  readonly maxConnections: number;
}

/** Once a minute; anything slower is left to retries. */
export const minRate = 1 / 60;
/** The rate settles at this fraction of `bad`, because mail isn't sent evenly. */
const margin = 0.96;
/** While searching, the rate grows by this factor per interval. */
const searchFactor = 1.25;
const searchIntervalMs = 1_000;
const approachIntervalMs = 2_000;
const minute = 60_000;
/**
 * A failed probe costs a rejection, so probes are limited by the messages accepted since the last one. Steps grow while
 * nothing is rejected.
 */
const probe = { min: 10_000, max: 2 * minute, messages: 200, factor: 0.01, maxFactor: 0.1 };
/**
 * Once a receiver that had rejected everything accepts mail again, the rate doubles up to half of `good`, like TCP slow
 * start (RFC 5681 section 3.1).
 */
const comeback = {
  pause: 10_000,
  min: 2_000,
  max: minute,
  messages: 3,
  factor: 2,
  fade: 0.65,
  fadeBlocked: 0.95,
};
/** A rejection this soon after the last one is a repeated one. */
const repeatedRejectionMs = 4_000;
const connectionGrowthMs = 60_000;
/**
 * Rejections of messages sent before the last change, or just after it on another node, say nothing about the new rate.
 */
const graceMs = 1_500;
const maxBlockMs = 600_000;

/** The state before anything is learned. */
export function initialThrottleState(
  rate: number,
  connections: number,
  now: number,
): ThrottleState {
  const none = { bad: undefined, slowedAt: undefined, blockedUntil: 0, session: undefined };
  return { rate, good: rate / 2, connections, changedAt: now, connectionsChangedAt: now, ...none };
}

/**
 * The state after the receiver asked for fewer messages; unchanged if the request was about an earlier rate.
 * @param sentAt when the rejected transaction began
 * @param actual measured rate across all nodes; undefined: not measured yet
 * @param after seconds that the receiver asked to wait
 */
export function slowDown(
  state: ThrottleState,
  now: number,
  sentAt: number,
  actual: number | undefined,
  after: number | undefined,
): ThrottleState {
  const blockedUntil =
    after === undefined
      ? state.blockedUntil
      : Math.max(state.blockedUntil, now + Math.min(after * 1_000, maxBlockMs));
  if (state.slowedAt !== undefined && sentAt < state.slowedAt + graceMs)
    return blockedUntil === state.blockedUntil ? state : { ...state, blockedUntil };
  const rejected = Math.max(minRate, rejectedRate(state, actual ?? state.rate));
  return {
    ...state,
    ...lowerRate(state, now, rejected),
    changedAt: now,
    slowedAt: now,
    blockedUntil,
  };
}

function lowerRate(
  state: ThrottleState,
  now: number,
  rejected: number,
): Pick<ThrottleState, 'rate' | 'good' | 'bad'> {
  const { good, bad, slowedAt } = state;
  // The first rejection shows where the limit is.
  if (bad === undefined || slowedAt === undefined) {
    const worked = Math.max(minRate, Math.min(good, rejected * 0.95));
    return { rate: Math.max(minRate, worked * 0.98), good: worked, bad: rejected };
  }
  // Repeated rejections mean that the limit has dropped, and lower the rate more each time.
  if (now - slowedAt < repeatedRejectionMs) {
    const factor = rejected < good * 0.5 ? 0.5 : rejected < good * 0.9 ? 0.85 : 0.93;
    return { rate: Math.max(minRate, rejected * factor), good, bad: rejected };
  }
  // A single rejection may just be a burst, so the rate drops by a few percent and `bad` moves halfway. `good` drops
  // with each failed comeback, but less while everything is rejected, which says little about it.
  const fade = rejected > good / 50 ? comeback.fade : comeback.fadeBlocked;
  return {
    rate: Math.max(minRate, rejected * 0.97),
    good:
      rejected < good / 2
        ? Math.max(rejected, good * fade)
        : Math.max(minRate, Math.min(good, rejected)),
    bad: rejected < bad ? (bad + rejected) / 2 : rejected,
  };
}

/** The rate that was actually rejected: below the configured rate, or above it before nodes knew of each other. */
function rejectedRate({ rate, slowedAt }: ThrottleState, sent: number): number {
  return slowedAt === undefined && sent > rate * 1.3 ? sent : Math.min(rate, sent * 1.1);
}

/** The state after the receiver asked for fewer connections. */
export function useFewerConnections(
  state: ThrottleState,
  now: number,
  sentAt: number,
  open: number,
): ThrottleState {
  if (state.slowedAt !== undefined && sentAt < state.slowedAt + graceMs) return state;
  const connections = Math.max(
    1,
    Math.floor(Math.min(state.connections, Math.max(open, 2)) * 0.75),
  );
  return { ...state, connections, connectionsChangedAt: now, slowedAt: now };
}

/**
 * The state with a higher rate or more connections if it is time to try that, otherwise unchanged.
 * @param actual measured rate across all nodes; a rate that isn't used up proves nothing
 */
export function speedUp(
  state: ThrottleState,
  now: number,
  actual: number,
  limits: ThrottleLimits,
): ThrottleState {
  const grown = growConnections(state, now, limits);
  if (now < state.blockedUntil || actual < state.rate * 0.7 || state.rate >= limits.maxRate)
    return grown;
  const rate = growRate(state, now);
  if (rate === undefined) return grown;
  const bad = state.bad !== undefined && rate > state.bad * margin ? rate / margin : state.bad;
  const good = Math.max(state.good, state.rate);
  return { ...grown, rate: Math.min(rate, limits.maxRate), good, bad, changedAt: now };
}

function growRate(state: ThrottleState, now: number): number | undefined {
  const { rate, good, bad, changedAt, slowedAt = 0 } = state;
  const sinceChange = now - changedAt;
  if (bad === undefined) return sinceChange < searchIntervalMs ? undefined : rate * searchFactor;
  const target = bad * margin;
  if (rate < target * 0.995) {
    if (sinceChange < approachIntervalMs) return undefined;
    return Math.min(target, rate + Math.max((bad - rate) * 0.4, rate * 0.01));
  }
  const sinceSlowed = now - slowedAt;
  if (rate < good / 2 && sinceSlowed >= comeback.pause) {
    const interval = clamp(comeback.min, (comeback.messages / rate) * 1_000, comeback.max);
    return sinceChange < interval ? undefined : Math.min(rate * comeback.factor, good / 2);
  }
  const interval = clamp(probe.min, (probe.messages / rate) * 1_000, probe.max);
  if (sinceSlowed < interval || sinceChange < interval / 2) return undefined;
  return rate * (1 + Math.min((probe.factor * sinceSlowed) / interval, probe.maxFactor));
}

function clamp(min: number, value: number, max: number): number {
  return Math.min(Math.max(min, value), max);
}

function growConnections(state: ThrottleState, now: number, limits: ThrottleLimits): ThrottleState {
  if (state.connections >= limits.maxConnections) return state;
  if (now - state.connectionsChangedAt < connectionGrowthMs) return state;
  return { ...state, connections: state.connections + 1, connectionsChangedAt: now };
}
