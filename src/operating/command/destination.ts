import { OperatorError } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import { findDestinationProfile } from '../../sending/delivery/shaping/destination-profiles.ts';
import { formatRate } from '../../sending/delivery/shaping/explain-throttle.ts';
import {
  type DestinationState,
  type RateOverride,
  ShapingStore,
} from '../../sending/delivery/shaping/shaping-store.ts';
import { runChange } from '../change/change-resource.ts';
import { withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, type JsonOption, printResult, printTable } from './shell.ts';

/** `destination list`: the known destinations with their limits. */
export async function listDestinations(shell: CommandShell, options: JsonOption): Promise<void> {
  return withRunningInstallation(shell, async ({ database }) => {
    const destinations = await new ShapingStore(database, newId(), Date.now).list();
    printTable<DestinationState>(shell, options, destinations, [
      ['name', ({ name }) => name],
      [
        'rate',
        ({ throttle, override }) =>
          `${formatRate(override.rate ?? throttle.rate)}${fixed(override.rate)}`,
      ],
      [
        'connections',
        ({ throttle, override }) =>
          `${override.connections ?? throttle.connections}${fixed(override.connections)}`,
      ],
      ['messages per connection', describeConnectionLimit],
      ['sending', ({ othersSent }) => formatRate(othersSent)],
      ['throttled', describeSlowdown],
    ]);
  });
}

/** `destination set NAME`: overrides rate, connections and messages per connection. Omitted limits are learned. */
export async function setDestination(
  shell: CommandShell,
  name: string,
  options: Readonly<Record<string, string | boolean>> & JsonOption,
): Promise<void> {
  const learn = options.learn === true;
  const rateOverride: RateOverride = {
    rate: readNumber('--rate', options.rate),
    connections: readCount('--connections', options.connections),
    messagesPerConnection: readCount('--messages-per-connection', options.messagesPerConnection),
  };
  if (Object.values(rateOverride).some((value) => value !== undefined) === learn)
    throw new OperatorError(
      'Use --rate, --connections or --messages-per-connection, or --learn alone.',
    );
  return withRunningInstallation(shell, async ({ database }) => {
    const store = new ShapingStore(database, newId(), Date.now);
    await runChange({ database }, undefined, async (transaction) => {
      if (!(await store.override(name, rateOverride, transaction)))
        throw new OperatorError(`Destination ${name} not found. Run destination list to see all.`);
      await recordCommand(transaction, { kind: 'receiver_changed', detail: { id: name } });
    });
    printResult(
      shell,
      options,
      learn ? `${name} uses learned limits again.` : `Limits of ${name} set.`,
      {
        name,
        ...rateOverride,
      },
    );
  });
}

function fixed(value: number | undefined): string {
  return value === undefined ? '' : ' (fixed)';
}

function describeSlowdown({ throttle, slowedReason }: DestinationState): string | undefined {
  if (throttle.slowedAt === undefined) return undefined;
  return `${new Date(throttle.slowedAt).toISOString()}: ${slowedReason ?? ''}`;
}

function describeConnectionLimit({
  name,
  throttle: { session },
  override,
}: DestinationState): string {
  const limit = override.messagesPerConnection;
  if (limit !== undefined) return `${limit} (fixed)`;
  if (session === undefined) return String(findDestinationProfile(name).messagesPerConnection);
  return `${session.maxMessages} (since ${new Date(session.learnedAt).toISOString()}: ${session.reason})`;
}

function readCount(name: string, text: string | boolean | undefined): number | undefined {
  const value = readNumber(name, text);
  if (value !== undefined && !Number.isInteger(value))
    throw new OperatorError(`${name} must be a whole number.`);
  return value;
}

function readNumber(name: string, text: string | boolean | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (typeof text !== 'string' || !(value > 0 && value <= 100_000))
    throw new OperatorError(`${name} must be a number above 0 and at most 100000.`);
  return value;
}
