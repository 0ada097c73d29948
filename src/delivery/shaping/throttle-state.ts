import type { SmtpSessionLength } from './smtp-session-length.ts';

/**
 * A destination's learned rate in messages per second, shared by all nodes. Searching (`bad` unknown): a fully used
 * rate grows by a quarter each second until the first rejection sets `bad`, the rate above which mail is rejected.
 * Settled: the rate approaches a fraction of `bad` from below. A single rejection may just be a burst, so it lowers the
 * rate by a few percent and moves `bad` halfway; repeated ones mean that the limit has dropped and cost more each time.
 * Without rejections, `bad` rises slowly. Comeback: once a receiver that had rejected everything accepts mail again,
 * the rate doubles up to half of `good`, the rate that last worked; each failed comeback lowers `good`.
 */
export interface ThrottleState {
  readonly rate: number;
  /** The highest rate that worked, as far as it is still trusted. */
  readonly good: number;
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

/** Once a minute; anything slower is up to retries. */
export const minRate = 1 / 60;
/** The rate settles at this fraction of `bad`, to leave room for uneven sending. */
const margin = 0.96;
const searchFactor = 1.25;
const searchIntervalMs = 1_000;
const approachIntervalMs = 2_000;
const minute = 60_000;
/**
 * A failed probe costs a rejection, so probes are limited by the messages accepted since the last one. Steps grow while
 * nothing is rejected.
 */
const probe = { min: 10_000, max: 2 * minute, messages: 200, factor: 0.01, maxFactor: 0.1 };
/** Far below `good`, the rate doubles up to half of it, like TCP slow start (RFC 5681 section 3.1). */
const comeback = {
  quiet: 10_000,
  min: 2_000,
  max: minute,
  messages: 3,
  factor: 2,
  fade: 0.65,
  fadeBlocked: 0.95,
};
/** A rejection this soon after the last one means that the limit has dropped, rather than a brief burst. */
const repeatedRefusalMs = 4_000;
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
  const refused = Math.max(minRate, refusedRate(state, actual ?? state.rate));
  return {
    ...state,
    ...lowerRate(state, now, refused),
    changedAt: now,
    slowedAt: now,
    blockedUntil,
  };
}

/** While searching, the first rejection shows where the limit is; later ones adjust it or show that it has dropped. */
function lowerRate(
  state: ThrottleState,
  now: number,
  refused: number,
): Pick<ThrottleState, 'rate' | 'good' | 'bad'> {
  const { good, bad, slowedAt } = state;
  if (bad === undefined || slowedAt === undefined) {
    const held = Math.max(minRate, Math.min(good, refused * 0.95));
    return { rate: Math.max(minRate, held * 0.98), good: held, bad: refused };
  }
  if (now - slowedAt < repeatedRefusalMs) {
    const factor = refused < good * 0.5 ? 0.5 : refused < good * 0.9 ? 0.85 : 0.93;
    return { rate: Math.max(minRate, refused * factor), good, bad: refused };
  }
  // Each failed comeback lowers `good`; less so while everything is rejected, which says little about it.
  const fade = refused > good / 50 ? comeback.fade : comeback.fadeBlocked;
  return {
    rate: Math.max(minRate, refused * 0.97),
    good:
      refused < good / 2
        ? Math.max(refused, good * fade)
        : Math.max(minRate, Math.min(good, refused)),
    bad: refused < bad ? (bad + refused) / 2 : refused,
  };
}

/** The rate that was actually rejected: below the configured rate, or above it before nodes knew of each other. */
function refusedRate({ rate, slowedAt }: ThrottleState, sent: number): number {
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
 * The state after a while: faster if allowed, otherwise unchanged.
 * @param actual measured rate across all nodes; a rate that isn't used up proves nothing
 */
export function speedUp(
  state: ThrottleState,
  now: number,
  actual: number,
  limits: ThrottleLimits,
): ThrottleState {
  const wider = growConnections(state, now, limits);
  if (now < state.blockedUntil || actual < state.rate * 0.7 || state.rate >= limits.maxRate)
    return wider;
  const rate = growRate(state, now);
  if (rate === undefined) return wider;
  const bad = state.bad !== undefined && rate > state.bad * margin ? rate / margin : state.bad;
  const good = Math.max(state.good, state.rate);
  return { ...wider, rate: Math.min(rate, limits.maxRate), good, bad, changedAt: now };
}

function growRate(state: ThrottleState, now: number): number | undefined {
  const { rate, good, bad, changedAt, slowedAt = 0 } = state;
  const quiet = now - changedAt;
  if (bad === undefined) return quiet < searchIntervalMs ? undefined : rate * searchFactor;
  const goal = bad * margin;
  if (rate < goal * 0.995) {
    if (quiet < approachIntervalMs) return undefined;
    return Math.min(goal, rate + Math.max((bad - rate) * 0.4, rate * 0.01));
  }
  const silence = now - slowedAt;
  if (rate < good / 2 && silence >= comeback.quiet) {
    const wait = clamp(comeback.min, (comeback.messages / rate) * 1_000, comeback.max);
    return quiet < wait ? undefined : Math.min(rate * comeback.factor, good / 2);
  }
  const paid = clamp(probe.min, (probe.messages / rate) * 1_000, probe.max);
  if (silence < paid || quiet < paid / 2) return undefined;
  return rate * (1 + Math.min((probe.factor * silence) / paid, probe.maxFactor));
}

function clamp(min: number, value: number, max: number): number {
  return Math.min(Math.max(min, value), max);
}

function growConnections(state: ThrottleState, now: number, limits: ThrottleLimits): ThrottleState {
  if (state.connections >= limits.maxConnections) return state;
  if (now - state.connectionsChangedAt < connectionGrowthMs) return state;
  return { ...state, connections: state.connections + 1, connectionsChangedAt: now };
}
