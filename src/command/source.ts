import { runChange } from '../change/change-resource.ts';
import { allowance, dayOf } from '../delivery/warm-up/warm-up-plan.ts';
import { WarmUpStore } from '../delivery/warm-up/warm-up-store.ts';
import { OperatorError } from '../foundation/errors.ts';
import { newId } from '../foundation/ids.ts';
import { withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { describeWarmUp, readWarmUp } from './warm-up-option.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `source list`: one line per address in DIRECT_SOURCES. */
export async function listSources(environment: Environment): Promise<number> {
  return withRunningInstallation(environment, async ({ config, database }) => {
    const store = new WarmUpStore(database, newId());
    const day = dayOf(Date.now());
    const plans = await store.sourcePlans();
    const used = await store.usedOn(day);
    for (const { address = '', name, pool } of config.direct.sources) {
      const plan = plans.get(address);
      const dailyLimit = plan && allowance(plan, day);
      const share =
        dailyLimit === undefined
          ? 'no limit'
          : `warming up: ${used.get(`source:${address}`) ?? 0} of ${dailyLimit} messages today`;
      process.stdout.write(`${address}\t${pool}\t${name}\t${share}\n`);
    }
    return 0;
  });
}

/** `source warm-up ADDRESS`. @throws OperatorError if the address is not in DIRECT_SOURCES */
export async function warmUpSource(
  address: string,
  options: { readonly goal?: string; readonly off?: boolean },
  environment: Environment,
): Promise<number> {
  const warmUp = readWarmUp(options);
  return withRunningInstallation(environment, async ({ config, database }) => {
    const known = config.direct.sources.some((source) => source.address === address);
    if (!known) throw new OperatorError(`DIRECT_SOURCES has no address ${address}.`);
    const store = new WarmUpStore(database, newId());
    await runChange({ database }, undefined, async (transaction) => {
      await store.setSourcePlan(transaction, address, warmUp);
      const detail = { id: address, changed: 'warmUp' };
      await recordCommand(transaction, { kind: 'source_changed', detail });
    });
    process.stdout.write(describeWarmUp(address, warmUp));
    return 0;
  });
}
