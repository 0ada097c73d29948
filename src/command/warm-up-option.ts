import { dayOf, defaultWarmUpPlan } from '../delivery/warm-up/warm-up-plan.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { WarmUpSchedule } from '../sender/sending-domain.ts';

export interface WarmUpOptions {
  readonly goal?: string;
  readonly off?: boolean;
}

/**
 * The plan for `--goal` or `--off`, starting today; undefined: none.
 * @throws OperatorError if neither is given, or the goal is invalid
 */
export function readWarmUp(options: WarmUpOptions): WarmUpSchedule | undefined {
  if (options.off === true) return undefined;
  const goal = Number(options.goal);
  if (!(Number.isInteger(goal) && goal > 50 && goal <= 100_000_000))
    throw new OperatorError(
      'Use --goal with a daily volume from 51 to 100000000 at which the plan ends, or --off.',
    );
  return { from: dayOf(Date.now()), plan: defaultWarmUpPlan(goal) };
}

export function describeWarmUp(subject: string, warmUp: WarmUpSchedule | undefined): string {
  return warmUp === undefined
    ? `${subject} has no warm-up plan.`
    : `${subject} can send up to these numbers of recipients per day: ${warmUp.plan.join(', ')}, then without a limit.`;
}
