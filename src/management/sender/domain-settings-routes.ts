import { type Static, Type } from 'typebox';
import { defaultPool } from '../../delivery/direct/source-pools.ts';
import { dayOf, defaultWarmUpPlan } from '../../delivery/warm-up/warm-up-plan.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { SendingDomain } from '../../sender/sending-domain.ts';
import {
  readSendingDomain,
  setSourcePool,
  setTrackingHost,
  setWarmUp,
} from '../../sender/sending-domain-store.ts';
import { canOperate } from '../access/admit-actor.ts';
import { Nullable, strict } from '../answer/common-schemas.ts';
import { invalidField, notFound, Problem } from '../answer/problem.ts';
import { saveResource } from '../change-resource.ts';
import {
  accountOf,
  actorOf,
  defineOperation,
  type OperationCall,
  type Wire,
} from '../operation.ts';
import { readDomainName } from '../path-params.ts';

const WarmUpSchema = Type.Object(
  {
    from: Type.String({ description: 'The first day, in UTC.', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    plan: Type.Array(Type.Integer({ minimum: 1 }), {
      description: 'Most messages of each day.',
      minItems: 1,
      maxItems: 366,
    }),
  },
  { ...strict, title: 'WarmUp' },
);

/** What people decide about a domain; its records and their state are not among it. */
export const domainSettings = {
  trackingHost: Nullable(
    Type.String({ description: 'Host of tracked links; null: that of the service.' }),
  ),
  sourcePool: Type.String({ description: 'Pool of source addresses that its mail leaves from.' }),
  warmUp: Nullable(WarmUpSchema),
};

const SettingsView = Type.Object(domainSettings, { ...strict, title: 'DomainSettings' });

const SettingsBody = Type.Object(
  {
    trackingHost: Type.Optional(
      Nullable(
        Type.String({
          description:
            'A host under the domain that tracked links carry once its record is found; null: that of the service.',
          maxLength: 253,
        }),
      ),
    ),
    sourcePool: Type.Optional(
      Type.String({
        description:
          '`default`, or a pool that DIRECT_SOURCES names. Only operators of the installation may change it.',
        maxLength: 40,
      }),
    ),
    warmUp: Type.Optional(Nullable(WarmUpSchema)),
    warmUpGoal: Type.Optional(
      Type.Integer({
        description:
          'In place of a plan of your own: messages a day up to which a usual plan grows, from 50 today, doubling every second day.',
        minimum: 51,
        maximum: 100_000_000,
      }),
    ),
  },
  strict,
);

/** The settings of a domain as they are shown. */
export function viewDomainSettings(domain: SendingDomain): Wire<Static<typeof SettingsView>> {
  const { trackingHost = null, sourcePool, warmUp } = domain;
  return {
    trackingHost,
    sourcePool,
    warmUp: warmUp === undefined ? null : { from: warmUp.from, plan: [...warmUp.plan] },
  };
}

async function readSettings(call: OperationCall, kysely: DatabaseTransaction) {
  const found = await readSendingDomain(kysely, accountOf(call).id, call.params.domain);
  return found && viewDomainSettings(found);
}

export const getDomainSettings = defineOperation({
  id: 'getDomainSettings',
  summary: 'Read the tracking host, the pool of source addresses and the warm-up of a domain',
  answer: SettingsView,
  async handle(call) {
    const settings = await readSettings(call, call.dependencies.database.kysely);
    if (settings === undefined) throw notFound('domain');
    return settings;
  },
});

export const putDomainSettings = defineOperation({
  id: 'putDomainSettings',
  summary: 'Change the tracking host, the pool of source addresses and the warm-up of a domain',
  description: 'What is left out stays.',
  body: SettingsBody,
  answer: SettingsView,
  conditional: true,
  async handle(call) {
    const { trackingHost, sourcePool } = call.body;
    const host = trackingHost && readHost(call, trackingHost);
    const warmUp = readWarmUp(call);
    if (sourcePool !== undefined) requirePool(call, sourcePool);
    const operates = await canOperate(call.dependencies, actorOf(call));
    return saveResource(call, {
      kind: 'domain',
      id: call.params.domain,
      read: (transaction) => readSettings(call, transaction),
      async write(transaction, before) {
        if (before === undefined) throw notFound('domain');
        const place = [transaction, accountOf(call).id, call.params.domain] as const;
        if (sourcePool !== undefined && sourcePool !== before.sourcePool) {
          if (!operates)
            throw new Problem('forbidden', 'sourcePool is for operators of the installation');
          await setSourcePool(...place, sourcePool);
        }
        if (warmUp !== undefined) await setWarmUp(...place, warmUp ?? undefined);
        if (host !== undefined && host !== before.trackingHost)
          await setTrackingHost(...place, host ?? undefined);
      },
    });
  },
});

function readWarmUp(call: OperationCall<unknown, Static<typeof SettingsBody>>) {
  const { warmUp, warmUpGoal } = call.body;
  if (warmUpGoal === undefined) return warmUp;
  if (warmUp !== undefined)
    throw invalidField('warmUpGoal', 'cannot be given together with warmUp');
  return { from: dayOf(call.dependencies.clock.now()), plan: defaultWarmUpPlan(warmUpGoal) };
}

function readHost({ params, dependencies }: OperationCall, text: string): string {
  const host = readDomainName(text);
  if (host?.endsWith(`.${params.domain}`) !== true)
    throw invalidField('trackingHost', `is no host under ${params.domain}`);
  if (dependencies.facts.publicUrl === undefined)
    throw invalidField('trackingHost', 'needs PUBLIC_URL to be set: the host leads to it');
  return host;
}

function requirePool({ dependencies }: OperationCall, pool: string): void {
  const pools = poolsOf(dependencies.facts.direct.sources);
  if (!pools.includes(pool))
    throw invalidField('sourcePool', `is no pool of DIRECT_SOURCES; there is ${pools.join(', ')}`);
}

/** The pools that a domain may use. @param sources of DIRECT_SOURCES */
export function poolsOf(sources: readonly { readonly pool: string }[]): string[] {
  return [...new Set([defaultPool, ...sources.map(({ pool }) => pool)])];
}
