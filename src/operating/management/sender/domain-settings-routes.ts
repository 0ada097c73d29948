import { type Static, Type } from 'typebox';
import {
  domainSettings,
  refuseTrackingHost,
  saveDomainSettings,
} from '../../../accounts/sender/domain-settings.ts';
import {
  NamedObject,
  Nullable,
  PartialObject,
  Text,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { parseDomainName } from '../../../base/values/mail-domain.ts';
import { poolsOf } from '../../../sending/delivery/direct/source-pools.ts';
import { dayOf, defaultWarmUpPlan } from '../../../sending/delivery/warm-up/warm-up-plan.ts';
import { findOperatorProblem } from '../access/admit-actor.ts';
import { invalidField } from '../answer/problem.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { requireResource, saveResource } from '../save-resource.ts';

const WarmUpSchema = NamedObject('WarmUp', {
  from: Text('First day, in UTC.', { format: 'date', maxLength: 10 }),
  plan: Type.Array(Type.Integer({ minimum: 1, maximum: 100_000_000 }), {
    description: 'Max messages for each day.',
    minItems: 1,
    maxItems: 366,
  }),
});

/** The editable settings of a domain, as opposed to its DNS records and their state. */
export const domainSettingMembers = {
  trackingHost: Nullable(Text('Host of tracked links; null: the host of PUBLIC_URL.')),
  sourcePool: Text('Pool of source addresses that its mail is sent from.'),
  warmUp: Nullable(WarmUpSchema),
};

const SettingsView = NamedObject('DomainSettings', domainSettingMembers);

const SettingsBody = PartialObject({
  trackingHost: Nullable(
    Text(
      'A subdomain to use in tracked links once its DNS record is found; null: the host of PUBLIC_URL.',
      { maxLength: 253 },
    ),
  ),
  sourcePool: Text('`default`, or a pool named in DIRECT_SOURCES. Only operators can change it.', {
    maxLength: 40,
  }),
  warmUp: Nullable(WarmUpSchema),
  warmUpGoal: Whole(
    'Use the default plan up to this daily volume, instead of your own plan. It starts at 50 messages today and doubles every two days.',
    { minimum: 51, maximum: 100_000_000 },
  ),
});

function settingsOf(call: OperationCall) {
  return domainSettings(call.params.accountId, call.params.domain);
}

export const getDomainSettings = defineOperation({
  id: 'getDomainSettings',
  summary: 'Get the settings of a domain',
  answer: SettingsView,
  handle: (call) => requireResource(call, settingsOf(call)),
});

export const putDomainSettings = defineOperation({
  id: 'putDomainSettings',
  summary: 'Update the settings of a domain',
  description:
    'Changes the tracking host, source pool and warm-up. Omitted members stay unchanged.',
  body: SettingsBody,
  answer: SettingsView,
  conditional: true,
  async handle(call) {
    const { trackingHost, sourcePool } = call.body;
    const host = trackingHost && readHost(call, trackingHost);
    const warmUp = readWarmUp(call);
    if (sourcePool !== undefined) requirePool(call, sourcePool);
    const poolProblem = await findOperatorProblem(
      call.dependencies,
      actorOf(call),
      'Only operators can change sourcePool',
    );
    return saveResource(call, {
      ...settingsOf(call),
      async write(transaction, before) {
        if (sourcePool !== undefined && sourcePool !== before?.sourcePool && poolProblem)
          throw poolProblem;
        await saveDomainSettings(transaction, call.params.accountId, call.params.domain, before, {
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
  if (warmUp !== undefined) throw invalidField('warmUpGoal', 'can’t be combined with warmUp');
  return { from: dayOf(call.dependencies.clock.now()), plan: defaultWarmUpPlan(warmUpGoal) };
}

function readHost({ params: { domain }, dependencies }: OperationCall, text: string) {
  const host = parseDomainName(text);
  const refusal = refuseTrackingHost(host, domain, dependencies.facts.publicUrl);
  if (refusal === 'not-below')
    throw invalidField('trackingHost', `must be a subdomain of ${domain}`);
  if (refusal === 'no-public-url')
    throw invalidField(
      'trackingHost',
      'requires PUBLIC_URL to be set, because the tracking host points to it',
    );
  return host;
}

function requirePool({ dependencies }: OperationCall, pool: string): void {
  const pools = poolsOf(dependencies.facts.direct.sources);
  if (!pools.includes(pool))
    throw invalidField('sourcePool', `must be a pool of DIRECT_SOURCES: ${pools.join(', ')}`);
}
