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
import {
  Flag,
  NamedObject,
  Nullable,
  OptionalText,
  StrictObject,
  Text,
  Time,
} from '../../../base/values/common-schemas.ts';
import type { Wire } from '../../../base/values/wire.ts';
import { requirePreconditions } from '../answer/entity-tag.ts';
import { definePages } from '../answer/list-operations.ts';
import { notFound } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf } from '../resource-routes.ts';
import { recordAudit, removeResource } from '../save-resource.ts';
import { domainSettingMembers } from './domain-settings-routes.ts';

const domainFacts = {
  domain: Type.String(),
  state: Type.Enum(['pending', 'verified', 'broken']),
  stateAt: Time('When the state last changed.'),
  returnPath: Text('Host that receives bounces.'),
  ...domainSettingMembers,
  checkedAt: Nullable(Time('When its DNS records were last checked.')),
};

const DomainView = NamedObject('Domain', domainFacts);

const DomainKeyView = NamedObject('DomainKey', {
  selector: Type.String(),
  algorithm: Text('`rsa-sha256` or `ed25519-sha256`.'),
  state: Type.Enum(['pending', 'active', 'retired'], {
    description:
      '`pending`: waiting for its DNS record. `active`: signs mail. `retired`: no longer signs, but kept for mail in transit.',
  }),
  stateAt: Time('When the state last changed.'),
});

const DomainRecordView = NamedObject('DomainRecord', {
  kind: Text('`dkim`, `spf`, `return-path`, `from-spf`, `dmarc` or `tracking`.'),
  name: Type.String(),
  type: Text('`TXT`, `MX` or `CNAME`.'),
  expected: Text('The exact value to publish.'),
  required: Type.Boolean(),
  why: Type.String(),
  state: Text('`ok`, `missing`, `wrong`, or `unknown` if not checked yet.'),
  found: Type.Array(Type.String()),
  explanation: Nullable(Type.String()),
  resolver: Nullable(Text('The DNS server queried.')),
  checkedAt: Nullable(Time('When it was last checked.')),
});

const DomainDetailView = NamedObject('DomainDetail', {
  ...domainFacts,
  zone: Nullable(Text('The DNS zone that its records belong to, as of the last check.')),
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
  keys: Type.Array(DomainKeyView, { description: 'Oldest first.' }),
  records: Type.Array(DomainRecordView),
});

const viewDomain = (domain: SendingDomain) =>
  viewOf(DomainView)({ ...domain, ...settingsOfDomain(domain) });

const domainChange = resourceOf({
  kind: 'domain',
  id: 'domain',
  async read(transaction, call) {
    const { accountId, domain } = call.params;
    const found = await readSendingDomain(transaction, accountId, domain);
    return found && viewDetail(call, found, transaction);
  },
});

async function requireDomain(call: OperationCall): Promise<SendingDomain> {
  const { kysely } = call;
  const found = await readSendingDomain(kysely, call.params.accountId, call.params.domain);
  if (found === undefined) throw notFound('domain');
  return found;
}

async function viewDetail(
  call: OperationCall,
  domain: SendingDomain,
  kysely: DatabaseTransaction = call.kysely,
): Promise<Wire<Static<typeof DomainDetailView>>> {
  const keys = await call.dependencies.domains.keys(domain, kysely);
  const records = await readRecordFindings(call.dependencies.domains, kysely, domain);
  return {
    ...viewDomain(domain),
    zone: domain.zone ?? null,
    dnsProvider: domain.dnsProvider ?? null,
    problems: call.dependencies.domains.problems(),
    keys: keys.map((key) => viewOf(DomainKeyView)(key)),
    records: records.map(({ finding, ...record }) =>
      viewOf(DomainRecordView)({
        ...record,
        expected: record.value,
        state: 'unknown',
        found: [],
        ...finding,
      }),
    ),
  };
}

export const listDomains = definePages({
  id: 'listDomains',
  summary: 'List sending domains',
  item: DomainView,
  cursor: ['text'],
  async read({ kysely, params }, { after: [after] = [''] }) {
    const all = await readSendingDomains(kysely, params.accountId);
    return all.filter(({ domain }) => domain > after);
  },
  view: viewDomain,
  place: ({ domain }) => [domain],
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
    ed25519: Type.Optional(Flag('Also create an Ed25519 key.')),
    returnPathLabel: OptionalText('First label of the return path host. Default `bounces`.', {
      pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
    }),
  }),
  answer: DomainDetailView,
  conditional: true,
  async handle(call) {
    const { accountId: id, domain } = call.params;
    const { ed25519, returnPathLabel } = call.body;
    const found = await readSendingDomain(call.kysely, id, domain);
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
        await removeSendingDomain(transaction, call.params.accountId, call.params.domain);
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
      call.params.accountId,
      domain.domain,
      (transaction) => recordAudit(call, transaction, 'domain_keys_rotated', domain.domain),
    );
    if (!rotated) throw notFound('domain');
    return viewDetail(call, domain);
  },
});
