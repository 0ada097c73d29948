/**
 * What is known about the pace of a destination, for all nodes together. Rates are messages per second.
 *
 * Searching (`bad` is unknown): while the pace is used up, it grows by a quarter each second. The first refusal gives
 * `bad`, the lowest rate known to be refused; `good` is the highest that held. From there the pace closes in on `bad` from
 * below in ever smaller steps and settles a little under it. A receiver's limit may rise again, so `bad` is believed less
 * and less: every few minutes it is set a little higher, and the next refusal corrects it at the cost of one or two
 * messages.
 */
export interface Pace {
  readonly rate: number;
  readonly good: number;
  readonly bad: number | undefined;
  /** Connections. */
  readonly connections: number;
  /** When the rate changed last, in milliseconds of the caller's clock. */
  readonly changedAt: number;
  readonly connectionsAt: number;
  /** When the receiver asked last for less, or undefined. */
  readonly slowedAt: number | undefined;
  /** Nothing is sent before. */
  readonly blockedUntil: number;
}

export interface PaceLimits {
  readonly mostRate: number;
  readonly mostConnections: number;
}

/** Once a minute: less is a matter of retrying. */
export const leastRate = 1 / 60;
/** Part of `bad` at which the pace settles, so that the unevenness of sending stays below it. */
const margin = 0.955;
const searchFactor = 1.25;
const searchMilliseconds = 1_000;
const closeMilliseconds = 4_000;
const minute = 60_000;
const probes = [
  { after: 30 * minute, every: minute, factor: 1.1 },
  { after: 10 * minute, every: minute, factor: 1.05 },
  { after: 3 * minute, every: 3 * minute, factor: 1.03 },
];
const connectionMilliseconds = 60_000;
/** Refusals of what left before the last change, or just after it on another node, say nothing about the new pace. */
const graceMilliseconds = 1_500;
const longestBlock = 600_000;

/** A pace before anything is learnt. */
export function startPace(rate: number, connections: number, now: number): Pace {
  const none = { bad: undefined, slowedAt: undefined, blockedUntil: 0 };
  return { rate, good: rate / 2, connections, changedAt: now, connectionsAt: now, ...none };
}

/**
 * The pace after the receiver asked for fewer messages; the same one where that was about an earlier pace.
 * @param sentAt when the refused message was begun
 * @param actual what all nodes really sent, per second; undefined: not measured yet
 * @param after seconds that the receiver asked to wait
 */
export function slowDown(
  pace: Pace,
  now: number,
  sentAt: number,
  actual: number | undefined,
  after: number | undefined,
): Pace {
  const blockedUntil =
    after === undefined
      ? pace.blockedUntil
      : Math.max(pace.blockedUntil, now + Math.min(after * 1_000, longestBlock));
  if (pace.slowedAt !== undefined && sentAt < pace.slowedAt + graceMilliseconds)
    return blockedUntil === pace.blockedUntil ? pace : { ...pace, blockedUntil };
  const refused = Math.max(leastRate, refusedRate(pace, actual ?? pace.rate));
  const good = Math.max(leastRate, Math.min(pace.good, refused * 0.95));
  // A rate that had held is refused: the limit has fallen, or was never there; a larger step finds it.
  const fallen = refused <= pace.good;
  const rate = Math.max(leastRate, fallen ? refused * 0.8 : good * 0.98);
  return {
    ...pace,
    rate,
    good: fallen ? rate : good,
    bad: refused,
    changedAt: now,
    slowedAt: now,
    blockedUntil,
  };
}

/** It is what was really sent that was refused: less than the pace, or more where nodes did not know of each other yet. */
function refusedRate({ rate, slowedAt }: Pace, sent: number): number {
  return slowedAt === undefined && sent > rate * 1.3 ? sent : Math.min(rate, sent * 1.1);
}

/** The pace after the receiver asked for fewer connections. */
export function useFewerConnections(pace: Pace, now: number, sentAt: number, open: number): Pace {
  if (pace.slowedAt !== undefined && sentAt < pace.slowedAt + graceMilliseconds) return pace;
  const connections = Math.max(1, Math.floor(Math.min(pace.connections, Math.max(open, 2)) * 0.75));
  return { ...pace, connections, connectionsAt: now, slowedAt: now };
}

/**
 * The pace a while later, if it may grow; the same one if not.
 * @param actual what all nodes really sent, per second: a pace that is not used up proves nothing
 */
export function speedUp(pace: Pace, now: number, actual: number, limits: PaceLimits): Pace {
  const wider = growConnections(pace, now, limits);
  if (now < pace.blockedUntil || actual < pace.rate * 0.7 || pace.rate >= limits.mostRate)
    return wider;
  const rate = growRate(pace, now);
  if (rate === undefined) return wider;
  const bad = pace.bad !== undefined && rate > pace.bad * margin ? rate / margin : pace.bad;
  const good = Math.max(pace.good, pace.rate);
  return { ...wider, rate: Math.min(rate, limits.mostRate), good, bad, changedAt: now };
}

function growRate({ rate, bad, changedAt, slowedAt = 0 }: Pace, now: number): number | undefined {
  const quiet = now - changedAt;
  if (bad === undefined) return quiet < searchMilliseconds ? undefined : rate * searchFactor;
  const goal = bad * margin;
  if (rate < goal * 0.995) {
    if (quiet < closeMilliseconds) return undefined;
    return Math.min(goal, rate + Math.max((bad - rate) * 0.4, rate * 0.01));
  }
  // The longer nobody has objected, the bolder the probes.
  const probe = probes.find(({ after }) => now - slowedAt >= after);
  return probe === undefined || quiet < probe.every ? undefined : rate * probe.factor;
}

function growConnections(pace: Pace, now: number, limits: PaceLimits): Pace {
  if (pace.connections >= limits.mostConnections) return pace;
  if (now - pace.connectionsAt < connectionMilliseconds) return pace;
  return { ...pace, connections: pace.connections + 1, connectionsAt: now };
}
