import { OperatorError } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import { findDestinationProfile } from '../../sending/delivery/shaping/destination-profiles.ts';
import { formatRate } from '../../sending/delivery/shaping/explain-throttle.ts';
import {
  type DestinationState,
  type RateOverride,
  ShapingStore,
} from '../../sending/delivery/shaping/shaping-store.ts';
import { type TlsDay, TlsResultStore } from '../../sending/delivery/tls-report/tls-result-store.ts';
import { runChange } from '../change/change-resource.ts';
import { onInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { printResult, printTable } from './shell.ts';

const retentionDays = 60;
const maxLines = 10_000;
const dayMs = 86_400_000;

export const destinationCommands = {
  /** `destination list`: the known destinations with their limits. */
  list: onInstallation(() => async ({ shell, database }) => {
    const destinations = await new ShapingStore(database, newId(), Date.now).list();
    printTable<DestinationState>(shell, destinations, [
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
  }),
  /** `destination set NAME`: overrides rate, connections and messages per connection. Omitted limits are learned. */
  set: onInstallation((name: string, options: Readonly<Record<string, string | boolean>>) => {
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
    return async ({ shell, database }) => {
      const store = new ShapingStore(database, newId(), Date.now);
      await runChange({ database }, undefined, async (transaction) => {
        if (!(await store.override(name, rateOverride, transaction)))
          throw new OperatorError(
            `Destination ${name} not found. Run destination list to see all.`,
          );
        await recordCommand(transaction, { kind: 'receiver_changed', detail: { id: name } });
      });
      const text = learn ? `${name} uses learned limits again.` : `Limits of ${name} set.`;
      printResult(shell, text, { name, ...rateOverride });
    };
  }),
  /** `destination tls [DOMAIN]`: the results by day and domain. */
  tls: onInstallation((domain: string | undefined, options: { readonly days: string }) => {
    const days = Number(options.days);
    if (!Number.isInteger(days) || days < 1 || days > retentionDays)
      throw new OperatorError(`--days must be a whole number from 1 to ${retentionDays}.`);
    const from = new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10);
    return async ({ shell, database }) => {
      const store = new TlsResultStore(database, newId());
      const results = await store.list({ from, domain: domain?.toLowerCase() }, maxLines);
      printTable<TlsDay>(shell, results, [
        ['day', ({ day }) => day],
        ['domain', (result) => result.domain],
        ['policy', ({ policyType }) => policyType],
        ['encrypted', ({ success }) => String(success)],
        ['failed', ({ failed }) => String(failed)],
        ['failures', ({ failures }) => describeFailures(failures)],
      ]);
    };
  }),
};

function describeFailures(failures: TlsDay['failures']): string {
  return failures
    .map(({ type, host, sessions }) => `${sessions} ${type}${host === '' ? '' : ` (${host})`}`)
    .join(', ');
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
