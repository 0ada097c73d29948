import { showRate } from '../delivery/shaping/explain-wait.ts';
import { type KnownDestination, ShapingStore } from '../delivery/shaping/shaping-store.ts';
import { OperatorError } from '../foundation/errors.ts';
import { newId } from '../foundation/ids.ts';
import { withRunning } from './open-running.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `destination list`: one line for each receiver. */
export async function listDestinations(environment: Environment): Promise<number> {
  return withRunning(environment, async ({ database }) => {
    for (const one of await new ShapingStore(database, newId(), Date.now).list())
      process.stdout.write(`${describe(one)}\n`);
    return 0;
  });
}

/** `destination set NAME`: fixes rate and connections, or lets them be learnt again. */
export async function setDestination(
  name: string,
  options: Readonly<Record<string, string | boolean>>,
  environment: Environment,
): Promise<number> {
  const rate = readNumber('--rate', options.rate);
  const connections = readNumber('--connections', options.connections);
  if (rate === undefined && connections === undefined && options.learn !== true)
    throw new OperatorError('Give --rate, --connections or --learn.');
  return withRunning(environment, async ({ database }) => {
    const store = new ShapingStore(database, newId(), Date.now);
    const whole = connections === undefined ? undefined : Math.max(1, Math.round(connections));
    const learn = options.learn === true;
    const known = await store.override(name, learn ? undefined : rate, learn ? undefined : whole);
    if (!known) throw new OperatorError(`No receiver ${name} is known yet; see destination list.`);
    process.stdout.write(learn ? `${name} is learnt again.\n` : `${name} is fixed.\n`);
    return 0;
  });
}

function describe(one: KnownDestination): string {
  const { pace, overrideRate, overrideConnections, slowedReason } = one;
  const rate = overrideRate ?? pace.rate;
  const said =
    pace.slowedAt === undefined
      ? ''
      : `, asked for less at ${new Date(pace.slowedAt).toISOString()}: ${slowedReason ?? ''}`;
  const fixed = overrideRate === undefined ? '' : ' (fixed)';
  const connections = overrideConnections ?? pace.connections;
  return `${one.name}\t${showRate(rate)}${fixed}\t${connections} connections\tsending ${showRate(one.othersSent)}${said}`;
}

function readNumber(name: string, text: string | boolean | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (typeof text !== 'string' || !(value > 0 && value <= 100_000))
    throw new OperatorError(`${name} must be a number above 0.`);
  return value;
}
