import type { WarmUpSchedule } from '../../accounts/sender/sending-domain.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import {
  allowance,
  dayOf,
  defaultWarmUpPlan,
} from '../../sending/delivery/warm-up/warm-up-plan.ts';
import { WarmUpStore } from '../../sending/delivery/warm-up/warm-up-store.ts';
import { runChange } from '../change/change-resource.ts';
import { onInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { printResult, printTable } from './shell.ts';

/** `source list|warm-up`: the addresses in DIRECT_SOURCES. */
export const sourceCommands = {
  list: onInstallation(() => async ({ shell, config, database }) => {
    const store = new WarmUpStore(database, newId());
    const day = dayOf(Date.now());
    const plans = await store.sourcePlans();
    const used = await store.usedOn(day);
    const sources = config.direct.sources.map(({ address = '', name, pool }) => {
      const plan = plans.get(address);
      const dailyLimit = (plan && allowance(plan, day)) ?? null;
      return { address, pool, name, dailyLimit, sentToday: used.get(`source:${address}`) ?? 0 };
    });
    printTable(shell, sources, [
      ['address', ({ address }) => address],
      ['pool', ({ pool }) => pool],
      ['name', ({ name }) => name],
      [
        'limit',
        ({ dailyLimit, sentToday }) =>
          dailyLimit === null
            ? 'no limit'
            : `warming up: ${sentToday} of ${dailyLimit} messages today`,
      ],
    ]);
  }),
  'warm-up': onInstallation((address: string, options: WarmUpOptions) => {
    const warmUp = readWarmUp(options);
    return async ({ shell, config, database }) => {
      if (!config.direct.sources.some((source) => source.address === address))
        throw new OperatorError(
          `DIRECT_SOURCES has no address ${address}. Run source list to see all.`,
        );
      await runChange({ database }, undefined, async (transaction) => {
        await new WarmUpStore(database, newId()).setSourcePlan(transaction, address, warmUp);
        const detail = { id: address, changed: 'warmUp' };
        await recordCommand(transaction, { kind: 'source_changed', detail });
      });
      const result = { address, warmUp: warmUp ?? null };
      printResult(shell, describeWarmUp(address, warmUp), result);
    };
  }),
};

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
