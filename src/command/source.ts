import { runChange } from '../change/change-resource.ts';
import { allowance, dayOf } from '../delivery/warm-up/warm-up-plan.ts';
import { WarmUpStore } from '../delivery/warm-up/warm-up-store.ts';
import { OperatorError } from '../foundation/errors.ts';
import { newId } from '../foundation/ids.ts';
import { withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, type JsonOption, printResult, printTable } from './shell.ts';
import { describeWarmUp, readWarmUp, type WarmUpOptions } from './warm-up-option.ts';

/** `source list`: the addresses in DIRECT_SOURCES. */
export async function listSources(options: JsonOption, shell: CommandShell): Promise<number> {
  return withRunningInstallation(shell, async ({ config, database }) => {
    const store = new WarmUpStore(database, newId());
    const day = dayOf(Date.now());
    const plans = await store.sourcePlans();
    const used = await store.usedOn(day);
    const sources = config.direct.sources.map(({ address = '', name, pool }) => {
      const plan = plans.get(address);
      const dailyLimit = (plan && allowance(plan, day)) ?? null;
      return { address, pool, name, dailyLimit, sentToday: used.get(`source:${address}`) ?? 0 };
    });
    printTable(shell, options, sources, [
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
    return 0;
  });
}

/** `source warm-up ADDRESS`. @throws OperatorError if the address is not in DIRECT_SOURCES */
export async function warmUpSource(
  address: string,
  options: WarmUpOptions & JsonOption,
  shell: CommandShell,
): Promise<number> {
  const warmUp = readWarmUp(options);
  return withRunningInstallation(shell, async ({ config, database }) => {
    const known = config.direct.sources.some((source) => source.address === address);
    if (!known)
      throw new OperatorError(
        `DIRECT_SOURCES has no address ${address}. Run source list to see all.`,
      );
    const store = new WarmUpStore(database, newId());
    await runChange({ database }, undefined, async (transaction) => {
      await store.setSourcePlan(transaction, address, warmUp);
      const detail = { id: address, changed: 'warmUp' };
      await recordCommand(transaction, { kind: 'source_changed', detail });
    });
    printResult(shell, options, describeWarmUp(address, warmUp), {
      address,
      warmUp: warmUp ?? null,
    });
    return 0;
  });
}
