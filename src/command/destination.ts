import { runChange } from '../change/change-resource.ts';
import { findDestinationProfile } from '../delivery/shaping/destination-profiles.ts';
import { formatRate } from '../delivery/shaping/explain-throttle.ts';
import {
  type DestinationState,
  type RateOverride,
  ShapingStore,
} from '../delivery/shaping/shaping-store.ts';
import { OperatorError } from '../foundation/errors.ts';
import { newId } from '../foundation/ids.ts';
import { withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `destination list`: one line per destination. */
export async function listDestinations(environment: Environment): Promise<number> {
  return withRunningInstallation(environment, async ({ database }) => {
    for (const destination of await new ShapingStore(database, newId(), Date.now).list())
      process.stdout.write(`${describe(destination)}\n`);
    return 0;
  });
}

/** `destination set NAME`: overrides rate, connections and messages per connection. Omitted limits are learned. */
export async function setDestination(
  name: string,
  options: Readonly<Record<string, string | boolean>>,
  environment: Environment,
): Promise<number> {
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
  return withRunningInstallation(environment, async ({ database }) => {
    const store = new ShapingStore(database, newId(), Date.now);
    await runChange({ database }, undefined, async (transaction) => {
      if (!(await store.override(name, rateOverride, transaction)))
        throw new OperatorError(`Destination ${name} not found. Run destination list to see all.`);
      await recordCommand(transaction, { kind: 'receiver_changed', detail: { id: name } });
    });
    process.stdout.write(
      learn ? `${name} uses learned limits again.\n` : `Limits of ${name} set.\n`,
    );
    return 0;
  });
}

function describe(destination: DestinationState): string {
  const { throttle, override, slowedReason } = destination;
  const rate = override.rate ?? throttle.rate;
  const slowdown =
    throttle.slowedAt === undefined
      ? ''
      : `, throttled at ${new Date(throttle.slowedAt).toISOString()}: ${slowedReason ?? ''}`;
  const fixed = (value: number | undefined): string => (value === undefined ? '' : ' (fixed)');
  const connections = override.connections ?? throttle.connections;
  return [
    destination.name,
    `${formatRate(rate)}${fixed(override.rate)}`,
    `${connections} connections${fixed(override.connections)}`,
    describeConnectionLimit(destination),
    `sending ${formatRate(destination.othersSent)}${slowdown}`,
  ].join('\t');
}

function describeConnectionLimit({
  name,
  throttle: { session },
  override,
}: DestinationState): string {
  const fixed = override.messagesPerConnection;
  if (fixed !== undefined) return `${fixed} messages per connection (fixed)`;
  if (session === undefined)
    return `${findDestinationProfile(name).messagesPerConnection} messages per connection`;
  const since = new Date(session.learnedAt).toISOString();
  return `${session.maxMessages} messages per connection (since ${since}: ${session.reason})`;
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
