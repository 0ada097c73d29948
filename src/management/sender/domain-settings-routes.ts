import { type Static, Type } from 'typebox';
import { poolsOf } from '../../delivery/direct/source-pools.ts';
import { dayOf, defaultWarmUpPlan } from '../../delivery/warm-up/warm-up-plan.ts';
import { Nullable, strict } from '../../foundation/common-schemas.ts';
import { parseDomainName } from '../../foundation/domain-name.ts';
import {
  domainSettings,
  refuseTrackingHost,
  saveDomainSettings,
} from '../../sender/domain-settings.ts';
import { canOperate } from '../access/admit-actor.ts';
import { invalidField, Problem } from '../answer/problem.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { requireResource, saveResource } from '../save-resource.ts';

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
export const domainSettingMembers = {
  trackingHost: Nullable(
    Type.String({ description: 'Host of tracked links; null: that of the service.' }),
  ),
  sourcePool: Type.String({ description: 'Pool of source addresses that its mail leaves from.' }),
  warmUp: Nullable(WarmUpSchema),
};

const SettingsView = Type.Object(domainSettingMembers, { ...strict, title: 'DomainSettings' });

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

function settingsOf(call: OperationCall) {
  return domainSettings(accountOf(call).id, call.params.domain);
}

export const getDomainSettings = defineOperation({
  id: 'getDomainSettings',
  summary: 'Read the tracking host, the pool of source addresses and the warm-up of a domain',
  answer: SettingsView,
  handle: (call) => requireResource(call, settingsOf(call)),
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
      ...settingsOf(call),
      async write(transaction, before) {
        if (sourcePool !== undefined && sourcePool !== before?.sourcePool && !operates)
          throw new Problem('forbidden', 'sourcePool is for operators of the installation');
        await saveDomainSettings(transaction, accountOf(call).id, call.params.domain, before, {
          trackingHost: host,
          sourcePool,
          warmUp,
        });
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

function readHost({ params: { domain }, dependencies }: OperationCall, text: string) {
  const host = parseDomainName(text);
  const refusal = refuseTrackingHost(host, domain, dependencies.facts.publicUrl);
  if (refusal === 'not-below') throw invalidField('trackingHost', `is no host under ${domain}`);
  if (refusal === 'no-public-url')
    throw invalidField('trackingHost', 'needs PUBLIC_URL to be set: the host leads to it');
  return host;
}

function requirePool({ dependencies }: OperationCall, pool: string): void {
  const pools = poolsOf(dependencies.facts.direct.sources);
  if (!pools.includes(pool))
    throw invalidField('sourcePool', `is no pool of DIRECT_SOURCES; there is ${pools.join(', ')}`);
}
