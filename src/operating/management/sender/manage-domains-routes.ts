import { type Static, Type } from 'typebox';
import { settingsOfDomain } from '../../../accounts/sender/domain-settings.ts';
import { dnsProviders, type SendingDomain } from '../../../accounts/sender/sending-domain.ts';
import {
  readSendingDomain,
  readSendingDomains,
  removeSendingDomain,
} from '../../../accounts/sender/sending-domain-store.ts';
import { readRecordFindings } from '../../../accounts/sender/sending-domains.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { NamedObject, Nullable, StrictObject, Time } from '../../../base/values/common-schemas.ts';
import type { Wire } from '../../../base/values/wire.ts';
import { requirePreconditions } from '../answer/entity-tag.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { notFound } from '../answer/problem.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { recordAudit, removeResource } from '../save-resource.ts';
import { domainSettingMembers } from './domain-settings-routes.ts';

const domainFacts = {
  domain: Type.String(),
  state: Type.Enum(['pending', 'verified', 'broken']),
  stateAt: Time('When the state last changed.'),
  returnPath: Type.String({ description: 'Host that receives bounces.' }),
  ...domainSettingMembers,
  checkedAt: Nullable(Time('When its DNS records were last checked.')),
};

const DomainView = NamedObject('Domain', domainFacts);

const DomainDetailView = NamedObject('DomainDetail', {
  ...domainFacts,
  zone: Nullable(
    Type.String({
      description: 'The DNS zone that its records belong to, as of the last check.',
    }),
  ),
  dnsProvider: Nullable(
    Type.Enum([...dnsProviders], {
      description: 'The DNS provider of the zone, if it is a known one.',
    }),
  ),
  problems: Type.Array(
    NamedObject('DomainProblem', {
      setting: Type.String(),
      sentence: Type.String(),
      nextStep: Type.String(),
    }),
    { description: 'Settings of the installation that are missing for complete records.' },
  ),
  keys: Type.Array(
    NamedObject('DomainKey', {
      selector: Type.String(),
      algorithm: Type.String({ description: '`rsa-sha256` or `ed25519-sha256`.' }),
      state: Type.Enum(['pending', 'active', 'retired'], {
        description:
          '`pending`: waiting for its DNS record. `active`: signs mail. `retired`: no longer signs, but kept for mail in transit.',
      }),
      stateAt: Time('When the state last changed.'),
    }),
    { description: 'Oldest first.' },
  ),
  records: Type.Array(
    NamedObject('DomainRecord', {
      kind: Type.String({
        description: '`dkim`, `spf`, `return-path`, `from-spf`, `dmarc` or `tracking`.',
      }),
      name: Type.String(),
      type: Type.String({ description: '`TXT`, `MX` or `CNAME`.' }),
      expected: Type.String({ description: 'The exact value to publish.' }),
      required: Type.Boolean(),
      why: Type.String(),
      state: Type.String({
        description: '`ok`, `missing`, `wrong`, or `unknown` if not checked yet.',
      }),
      found: Type.Array(Type.String()),
      explanation: Nullable(Type.String()),
      resolver: Nullable(Type.String({ description: 'The DNS server queried.' })),
      checkedAt: Nullable(Time('When it was last checked.')),
    }),
  ),
});

function viewDomain(domain: SendingDomain): Wire<Static<typeof DomainView>> {
  const { state, stateAt, returnPath, checkedAt = null } = domain;
  return {
    domain: domain.domain,
    state,
    stateAt,
    returnPath,
    ...settingsOfDomain(domain),
    checkedAt,
  };
}

function domainChange(call: OperationCall) {
  const { domain } = call.params;
  return {
    kind: 'domain',
    id: domain,
    async read(transaction: DatabaseTransaction) {
      const found = await readSendingDomain(transaction, accountOf(call).id, domain);
      return found && viewDetail(call, found, transaction);
    },
  };
}

async function requireDomain(call: OperationCall): Promise<SendingDomain> {
  const { kysely } = call.dependencies.database;
  const found = await readSendingDomain(kysely, accountOf(call).id, call.params.domain);
  if (found === undefined) throw notFound('domain');
  return found;
}

async function viewDetail(
  call: OperationCall,
  domain: SendingDomain,
  kysely: DatabaseTransaction = call.dependencies.database.kysely,
): Promise<Wire<Static<typeof DomainDetailView>>> {
  const keys = await call.dependencies.domains.keys(domain, kysely);
  const records = await readRecordFindings(call.dependencies.domains, kysely, domain);
  return {
    ...viewDomain(domain),
    zone: domain.zone ?? null,
    dnsProvider: domain.dnsProvider ?? null,
    problems: call.dependencies.domains.problems(),
    keys: keys.map(({ selector, algorithm, state, stateAt }) => ({
      selector,
      algorithm,
      state,
      stateAt,
    })),
    records: records.map(({ kind, name, type, value, required, why, finding }) => ({
      kind,
      name,
      type,
      expected: value,
      required,
      why,
      state: finding?.state ?? 'unknown',
      found: [...(finding?.found ?? [])],
      explanation: finding?.explanation ?? null,
      resolver: finding?.resolver ?? null,
      checkedAt: finding?.checkedAt ?? null,
    })),
  };
}

export const listDomains = defineOperation({
  id: 'listDomains',
  summary: 'List sending domains',
  query: pageQuery({}),
  answer: pageOf(DomainView),
  async handle(call) {
    const [after = ''] = readCursor(call.query, 'text') ?? [];
    const all = await readSendingDomains(call.dependencies.database.kysely, accountOf(call).id);
    const rows = all.filter(({ domain }) => domain > after);
    return toPage(rows, pageSizeOf(call.query), viewDomain, ({ domain }) => [domain]);
  },
});

export const getDomain = defineOperation({
  id: 'getDomain',
  summary: 'Get a sending domain with its DNS records',
  answer: DomainDetailView,
  handle: async (call) => viewDetail(call, await requireDomain(call)),
});

export const putDomain = defineOperation({
  id: 'putDomain',
  summary: 'Add a sending domain',
  description:
    'Creates DKIM keys for the domain. Once their DNS records are found, the keys sign mail and the senders of the domain become verified. If the domain already exists, nothing changes. Otherwise, omitted members get their defaults.',
  body: StrictObject({
    ed25519: Type.Optional(Type.Boolean({ description: 'Also create an Ed25519 key.' })),
    returnPathLabel: Type.Optional(
      Type.String({
        description: 'First label of the return path host. Default `bounces`.',
        pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
      }),
    ),
  }),
  answer: DomainDetailView,
  conditional: true,
  async handle(call) {
    const { id } = accountOf(call);
    const { domain } = call.params;
    const { ed25519, returnPathLabel } = call.body;
    const found = await readSendingDomain(call.dependencies.database.kysely, id, domain);
    const view = found && (await viewDetail(call, found));
    requirePreconditions(call.request, view);
    if (view !== undefined) return view;
    const options = {
      ...(ed25519 === undefined ? {} : { ed25519 }),
      ...(returnPathLabel === undefined ? {} : { returnPathLabel }),
    };
    // Generating keys is slow, but concurrent requests still create a single domain.
    const created = await call.dependencies.domains.add(id, domain, options, (transaction) =>
      recordAudit(call, transaction, 'domain_created', domain),
    );
    if (created) call.reply.code(201);
    return viewDetail(call, await requireDomain(call));
  },
});

export const deleteDomain = defineOperation({
  id: 'deleteDomain',
  summary: 'Delete a sending domain and its keys',
  description:
    'Senders verified through the domain become unverified and can’t send. Senders verified by a link or an operator stay verified.',
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...domainChange(call),
      write: async (transaction) => {
        await removeSendingDomain(transaction, accountOf(call).id, call.params.domain);
      },
    }),
});

export const checkDomain = defineOperation({
  id: 'checkDomain',
  summary: 'Check the DNS records of a domain now',
  answer: DomainDetailView,
  async handle(call) {
    const after = await call.dependencies.domains.check(await requireDomain(call));
    if (after === undefined) throw notFound('domain');
    return viewDetail(call, after);
  },
});

export const rotateDomainKeys = defineOperation({
  id: 'rotateDomainKeys',
  summary: 'Rotate the DKIM keys of a domain',
  description: 'The new keys replace the old ones once their DNS records are found.',
  answer: DomainDetailView,
  async handle(call) {
    const domain = await requireDomain(call);
    const rotated = await call.dependencies.domains.rotate(
      accountOf(call).id,
      domain.domain,
      (transaction) => recordAudit(call, transaction, 'domain_keys_rotated', domain.domain),
    );
    if (!rotated) throw notFound('domain');
    return viewDetail(call, domain);
  },
});
