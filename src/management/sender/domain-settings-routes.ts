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

export const WarmUpSchema = Type.Object(
  {
    from: Type.String({ description: 'First day, in UTC.', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    plan: Type.Array(Type.Integer({ minimum: 1 }), {
      description: 'Max messages for each day.',
      minItems: 1,
      maxItems: 366,
    }),
  },
  { ...strict, title: 'WarmUp' },
);

/** The editable settings of a domain, as opposed to its DNS records and their state. */
export const domainSettings = {
  trackingHost: Nullable(
    Type.String({ description: 'Host of tracked links; null: the host of PUBLIC_URL.' }),
  ),
  sourcePool: Type.String({ description: 'Source address pool that its mail is sent from.' }),
  warmUp: Nullable(WarmUpSchema),
};

const SettingsView = Type.Object(domainSettings, { ...strict, title: 'DomainSettings' });

const SettingsBody = Type.Object(
  {
    trackingHost: Type.Optional(
      Nullable(
        Type.String({
          description:
            'A subdomain to use in tracked links once its DNS record is found; null: the host of PUBLIC_URL.',
          maxLength: 253,
        }),
      ),
    ),
    sourcePool: Type.Optional(
      Type.String({
        description: '`default`, or a pool named in DIRECT_SOURCES. Only operators can change it.',
        maxLength: 40,
      }),
    ),
    warmUp: Type.Optional(Nullable(WarmUpSchema)),
    warmUpGoal: Type.Optional(
      Type.Integer({
        description:
          'Instead of your own plan: the daily volume to reach with the default plan, which starts at 50 messages today and doubles every second day.',
        minimum: 51,
        maximum: 100_000_000,
      }),
    ),
  },
  strict,
);

/** The settings of a domain as the API shows them. */
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
  summary: 'Get domain settings',
  description: 'Tracking host, source pool and warm-up.',
  answer: SettingsView,
  async handle(call) {
    const settings = await readSettings(call, call.dependencies.database.kysely);
    if (settings === undefined) throw notFound('domain');
    return settings;
  },
});

export const putDomainSettings = defineOperation({
  id: 'putDomainSettings',
  summary: 'Update domain settings',
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
    const operates = await canOperate(call.dependencies, actorOf(call));
    return saveResource(call, {
      kind: 'domain',
      id: call.params.domain,
      read: (transaction) => readSettings(call, transaction),
      async write(transaction, before) {
        if (before === undefined) throw notFound('domain');
        const place = [transaction, accountOf(call).id, call.params.domain] as const;
        if (sourcePool !== undefined && sourcePool !== before.sourcePool) {
          if (!operates) throw new Problem('forbidden', 'Only operators can change sourcePool');
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
  if (warmUp !== undefined) throw invalidField('warmUpGoal', 'cannot be combined with warmUp');
  return { from: dayOf(call.dependencies.clock.now()), plan: defaultWarmUpPlan(warmUpGoal) };
}

function readHost({ params, dependencies }: OperationCall, text: string): string {
  const host = readDomainName(text);
  if (host?.endsWith(`.${params.domain}`) !== true)
    throw invalidField('trackingHost', `must be a subdomain of ${params.domain}`);
  if (dependencies.facts.publicUrl === undefined)
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

/** The pools a domain can use. @param sources of DIRECT_SOURCES */
export function poolsOf(sources: readonly { readonly pool: string }[]): string[] {
  return [...new Set([defaultPool, ...sources.map(({ pool }) => pool)])];
}
