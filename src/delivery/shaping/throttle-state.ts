import type { SmtpSessionLength } from './smtp-session-length.ts';

/**
 * What is known about the pace of a destination, for all nodes together. Rates are messages per second.
 *
 * Searching (`bad` is unknown): while the pace is used up, it grows by a quarter each second, and the first refusal gives
 * `bad`, the rate above which refusals are known.
 *
 * Settled: the pace closes in on a part of `bad` from below. A single refusal may be a moment's crowd of messages as well as
 * the limit, so it costs a few hundredths of the pace and moves `bad` only halfway; refusals right after it say that the
 * limit has fallen, and cost more each time. Since limits rise again, silence raises `bad` little by little.
 *
 * Coming back: `good` remembers what once held. Once a receiver that had closed altogether takes mail again, the pace
 * doubles up to half of that; each comeback that is refused makes the memory fade.
 */
export interface ThrottleState {
  readonly rate: number;
  /** The highest that held, as far as it is still believed. */
  readonly good: number;
  readonly bad: number | undefined;
  /** Connections. */
  readonly connections: number;
  /** When the rate changed last, in milliseconds of the caller's clock. */
  readonly changedAt: number;
  readonly connectionsChangedAt: number;
  /** When the receiver asked last for less, or undefined. */
  readonly slowedAt: number | undefined;
  /** Nothing is sent before. */
  readonly blockedUntil: number;
  /** Undefined: connections carry as many messages as the profile says. */
  readonly session: SmtpSessionLength | undefined;
}

export interface ThrottleLimits {
  readonly maxRate: number;
  readonly maxConnections: number;
}

/** Once a minute: less is a matter of retrying. */
export const minRate = 1 / 60;
/** Part of `bad` at which the pace settles, so that the unevenness of sending stays below it. */
const margin = 0.96;
const searchFactor = 1.25;
const searchIntervalMs = 1_000;
const approachIntervalMs = 2_000;
const minute = 60_000;
/**
 * A probe ends in a refusal at worst, so it is paid for by the messages that were accepted since the last one; the longer
 * nobody objects, the larger the steps.
 */
const probe = { min: 10_000, max: 2 * minute, messages: 200, factor: 0.01, maxFactor: 0.1 };
/** Far below what once held, the pace doubles, as a connection's slow start does (RFC 5681 section 3.1), up to its half. */
const comeback = {
  quiet: 10_000,
  min: 2_000,
  max: minute,
  messages: 3,
  factor: 2,
  fade: 0.65,
  fadeBlocked: 0.95,
};
/** A refusal this soon after the last one is about the reduced pace: the limit is lower, not a moment's crowd. */
const repeatedRefusalMs = 4_000;
const connectionGrowthMs = 60_000;
/** Refusals of what left before the last change, or just after it on another node, say nothing about the new pace. */
const graceMs = 1_500;
const maxBlockMs = 600_000;

/** A pace before anything is learnt. */
export function initialThrottleState(
  rate: number,
  connections: number,
  now: number,
): ThrottleState {
  const none = { bad: undefined, slowedAt: undefined, blockedUntil: 0, session: undefined };
  return { rate, good: rate / 2, connections, changedAt: now, connectionsChangedAt: now, ...none };
}

/**
 * The pace after the receiver asked for fewer messages; the same one where that was about an earlier pace.
 * @param sentAt when the refused message was begun
 * @param actual what all nodes really sent, per second; undefined: not measured yet
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

/** Searching, the first refusal says where the limit is; later ones move what is known of it, or say that it has fallen. */
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
  // Each comeback that fails makes what once held less of an aim; while nothing at all is taken, it is hardly told about.
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

/** It is what was really sent that was refused: less than the pace, or more where nodes did not know of each other yet. */
function refusedRate({ rate, slowedAt }: ThrottleState, sent: number): number {
  return slowedAt === undefined && sent > rate * 1.3 ? sent : Math.min(rate, sent * 1.1);
}

/** The pace after the receiver asked for fewer connections. */
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
 * The pace a while later, if it may grow; the same one if not.
 * @param actual what all nodes really sent, per second: a pace that is not used up proves nothing
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
