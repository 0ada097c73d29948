import type { ChaosLoad } from '../chaos/chaos-load.ts';
import type { ChaosNode } from '../chaos/chaos-node.ts';
import type { MemberWatch } from './watch-members.ts';

/** Unix milliseconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** How a fault affected accepting, in seconds. */
export interface WindowReport {
  /** The longest time without a 200. */
  readonly without_200_s: number;
  /** From the fault until a standby accepted writes. Undefined, like the others, if none was promoted. */
  readonly promotion_s: number | undefined;
  /** From then until its first commit was safe. */
  readonly committing_s: number | undefined;
  /** From the promotion until each node had returned a 200. */
  readonly after_promotion_s: number | undefined;
  /** How much of that time the new primary had no standby that its commits could wait for. */
  readonly alone_s: number | undefined;
}

interface Observed {
  readonly nodes: readonly ChaosNode[];
  readonly load: Pick<ChaosLoad, 'acceptances'>;
  readonly watch: Pick<MemberWatch, 'promotions'>;
}

const toSeconds = (ms: number): number => Math.round(ms / 10) / 100;

/** Measures a window that has a 200 before and after it. */
export function measureWindow(window: TimeWindow, { nodes, load, watch }: Observed): WindowReport {
  const { acceptances } = load;
  let longest = 0;
  for (const [index, { at }] of acceptances.entries()) {
    const before = acceptances[index - 1]?.at ?? at;
    if (at >= window.from && before <= window.to) longest = Math.max(longest, at - before);
  }
  const promoted = watch.promotions.find(({ at }) => at >= window.from && at <= window.to);
  const accepting = nodes.map(
    (node) =>
      acceptances.find((one) => one.node === node && one.at >= (promoted?.at ?? 0))?.at ??
      Number.POSITIVE_INFINITY,
  );
  const since = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : toSeconds(to - from);
  const accepted = Math.max(...accepting);
  const alone = promoted?.alone.map(({ from, to }) => Math.max(0, Math.min(to, accepted) - from));
  return {
    without_200_s: toSeconds(longest),
    promotion_s: since(window.from, promoted?.at),
    committing_s: since(promoted?.at, promoted?.committedAt),
    after_promotion_s: since(promoted?.at, accepted),
    alone_s: alone && toSeconds(alone.reduce((sum, ms) => sum + ms, 0)),
  };
}
