import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/values/ids.ts';
import { membersOf } from '../../../src/operating/management/operation.ts';
import { routeTable } from '../../../src/operating/management/route-table.ts';
import { ShapingStore } from '../../../src/sending/delivery/shaping/shaping-store.ts';
import { addPasskey } from '../../support/add-passkey.ts';
import type { TextResponse } from '../../support/send-request.ts';
import { SessionWorld } from '../../support/session-world.ts';
import { addSender } from '../../support/shop.ts';
import { openTestShop } from '../../support/test-shop.ts';

const { database, owner, path, shop, as, makeOperator } = await openTestShop({
  worker: false,
  environment: {
    WEBHOOK_NETWORKS: '127.0.0.0/8',
    PUBLIC_URL: 'https://mail.service.test',
    DELIVERY: 'direct',
    SMTP_HOSTNAME: 'mail.service.test',
    DIRECT_SOURCES: '192.0.2.10=mail1.service.test,bulk/192.0.2.11=mail2.service.test',
  },
});
const store = new ShapingStore(database, newId(), Date.now);
await store.heartbeat([
  { name: 'yahoo', label: 'Yahoo', startRate: 5, startConnections: 10, demand: 0, sent: 0 },
]);
await makeOperator();
await addPasskey(database, shop.owner.id);
const member = await new SessionWorld(database, shop.id).addPerson();
const png = Buffer.from('\x89PNG\r\n\x1a\n0123456789', 'latin1').toString('base64');

/** What exists once, by its path in the route table. */
async function makeResources(): Promise<Map<string, string>> {
  const put = async (where: string, body: object): Promise<string> => {
    const made = await owner.put(where, body);
    assert.ok(made.status === 200 || made.status === 201, `${where}: ${made.text}`);
    return where;
  };
  const account = '/accounts/:accountId';
  await as('viewer');
  const users = await owner.get(`${path}/users`);
  const user = (users.body.items as { email: string; role: string }[]).find(
    ({ role }) => role === 'viewer',
  );
  const webhook = await owner.post(`${path}/webhooks`, {
    url: 'http://127.0.0.1:9/hook',
    kinds: ['delivered'],
  });
  await owner.put(`${path}/integrations/back`, {
    name: 'Back',
    redirectUri: 'https://back.test/cb',
    grants: ['password', 'refresh_token'],
  });
  return new Map([
    ['/installation/accounts/:accountId', `/installation/accounts/${shop.id}`],
    ['/installation/people/:email', `/installation/people/${user?.email}`],
    [
      '/installation/mail-templates/:mailKind',
      await put('/installation/mail-templates/password-link', {
        subject: 'Your password',
        html: '<p><a href="{{Link}}">Set it</a></p>',
        text: 'Set it: {{Link}}',
      }),
    ],
    [
      '/installation/receivers/:receiver/settings',
      await put('/installation/receivers/yahoo/settings', { rate: 5 }),
    ],
    [
      '/installation/integrations/:clientId/allowance',
      await put('/installation/integrations/back/allowance', { perHour: 9 }),
    ],
    [account, path],
    [`${account}/users/:email`, `${path}/users/${user?.email}`],
    [
      `${account}/senders/:address`,
      await put(`${path}/senders/back@shop.test`, { displayNames: ['Back'] }),
    ],
    [`${account}/domains/:domain`, await put(`${path}/domains/back.test`, {})],
    [`${account}/domains/:domain/settings`, `${path}/domains/back.test/settings`],
    [`${account}/integrations/:clientId`, `${path}/integrations/back`],
    [`${account}/templates/:templateId`, await put(`${path}/templates/back`, { name: 'Back' })],
    [
      `${account}/templates/:templateId/draft`,
      await put(`${path}/templates/back/draft`, {
        subject: 'Hello {{Name}}',
        html: '<p>{{Name}}</p>',
      }),
    ],
    [`${account}/lists/:listId`, await put(`${path}/lists/l-back`, { name: 'Back' })],
    [
      `${account}/lists/:listId/contacts/:email`,
      await put(`${path}/lists/l-back/contacts/c@people.test`, { fields: { Name: 'C' } }),
    ],
    [
      `${account}/suppressions/:address`,
      await put(`${path}/suppressions/s@people.test`, { reason: 'manual' }),
    ],
    [`${account}/webhooks/:webhookId`, `${path}/webhooks/${webhook.body.id}`],
    [
      `${account}/saved-filters/:filterName`,
      await put(`${path}/saved-filters/back`, { query: {} }),
    ],
    [
      `${account}/outbox-sources/:sourceId`,
      await put(`${path}/outbox-sources/back`, {
        table: 'email_outbox',
        url: 'postgres://u:p@db.back.test/back',
      }),
    ],
    [`${account}/retention-rule`, `${path}/retention-rule`],
    [`${account}/policy`, `${path}/policy`],
    [
      `${account}/sign-in-provider`,
      await put(`${path}/sign-in-provider`, {
        name: 'Back',
        issuer: 'https://back.test',
        clientId: 'back',
        clientSecret: 'a secret',
        members: [{ role: 'viewer', group: 'readers' }],
      }),
    ],
  ]);
}

for (const name of ['any', 'archive', 'security'])
  await addSender(database, shop.id, `${name}@back.test`);
const resources = await makeResources();

test('every resource with a PUT that has a body is covered here', () => {
  const puts = routeTable
    .filter(({ method, operation }) => method === 'PUT' && operation.body !== undefined)
    .filter(({ operation }) => operation.accepts === undefined);
  assert.deepEqual(puts.map((route) => route.path).sort(), [...resources.keys()].sort());
});

/** A draft says when it was saved. */
function withoutTraces({ body }: TextResponse): object {
  const { changedAt: _, ...rest } = body;
  return rest;
}

for (const [pattern, where] of resources)
  test(`what GET ${pattern} gives can be put back, and changes nothing`, async () => {
    const before = await owner.get(where);
    assert.equal(before.status, 200, before.text);
    const tag = before.headers.get('etag') ?? '';
    const put = await owner.put(where, before.body, { 'if-match': tag });
    assert.equal(put.status, 200, put.text);
    assert.deepEqual(withoutTraces(await owner.get(where)), withoutTraces(before));
  });

test('a read-only member that is changed is refused and named, and nothing is written', async () => {
  const where = `${path}/lists/l-back`;
  const before = await owner.get(where);
  const refused = await owner.put(where, { ...before.body, name: 'New', size: 7, createdAt: null });
  assert.equal(refused.status, 422, refused.text);
  assert.deepEqual((refused.body.errors as { field: string }[]).map(({ field }) => field).sort(), [
    'createdAt',
    'size',
  ]);
  assert.deepEqual((await owner.get(where)).body, before.body);
  const renamed = await owner.put(where, { ...before.body, name: 'New' });
  assert.equal(renamed.body.name, 'New');
  const unknown = await owner.put(where, { ...before.body, colour: 'red' });
  assert.equal((unknown.body.errors as { field: string }[])[0]?.field, 'colour');
  const deep = `{"name":"Deep","size":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const nested = await owner.call('PUT', where, deep, { 'content-type': 'application/json' });
  assert.equal(nested.status, 422, nested.text);
  // A new resource has none of them.
  const fresh = await owner.put(`${path}/lists/l-fresh`, { name: 'Fresh', size: 0 });
  assert.equal(fresh.status, 422);
  assert.equal((await owner.get(`${path}/lists/l-fresh`)).status, 404);
});

type Body = Readonly<Record<string, unknown>>;

/** Another value of each member of a body: `undefined` if it never changes what exists, a function for the whole body. */
const otherValues: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/installation/accounts/:accountId': {
    name: 'Other',
    addOns: [],
    suspended: true,
    retentionDays: 30,
    quota: { perHour: 7, perDay: null },
    archiveAddress: 'any@back.test',
    attachmentLimit: 5,
  },
  '/installation/people/:email': { disabled: true },
  '/installation/mail-templates/:mailKind': {
    subject: 'Other',
    previewText: 'Other',
    html: '<p><a href="{{Link}}">Other</a></p>',
    mjml: ({ html: _, ...body }: Body) => ({
      ...body,
      mjml: '<mjml><mj-body><mj-raw><a href="{{Link}}">Other</a></mj-raw></mj-body></mjml>',
    }),
    text: 'Other {{Link}}',
  },
  '/installation/receivers/:receiver/settings': {
    rate: 6,
    connections: 6,
    messagesPerConnection: 6,
  },
  '/installation/integrations/:clientId/allowance': { perHour: 10 },
  '/accounts/:accountId': { name: 'Other', archiveAddress: 'archive@back.test' },
  '/accounts/:accountId/users/:email': { role: 'marketer', name: undefined },
  '/accounts/:accountId/senders/:address': { displayNames: ['Other'], verified: true },
  '/accounts/:accountId/domains/:domain': { ed25519: undefined, returnPathLabel: undefined },
  '/accounts/:accountId/domains/:domain/settings': {
    trackingHost: 'links.back.test',
    sourcePool: 'bulk',
    warmUp: { from: '2030-01-01', plan: [50, 100] },
    warmUpGoal: ({ warmUp: _, ...body }: Body) => ({ ...body, warmUpGoal: 100 }),
  },
  '/accounts/:accountId/integrations/:clientId': {
    name: 'Other',
    redirectUri: 'https://other.test/cb',
    grants: ['password'],
    requirePkce: true,
    disabled: true,
  },
  '/accounts/:accountId/templates/:templateId': {
    name: 'Other',
    whenUncertain: 'hold',
    createdBy: member.email,
  },
  '/accounts/:accountId/templates/:templateId/draft': {
    subject: 'Other',
    previewText: 'Other',
    html: '<p>Other</p>',
    mjml: ({ html: _, ...body }: Body) => ({ ...body, mjml: '<mjml></mjml>' }),
    text: 'Other',
    fields: { Name: { secret: true } },
    freshnessMinutes: 60,
    images: [{ contentId: 'logo', filename: 'logo.png', content: png }],
    locale: 'de',
    sender: 'back@shop.test',
    unusedMarkup: { default: '<mjml></mjml>' },
    variants: { de: { subject: 'Hallo', html: '<p>{{Name}}</p>' } },
  },
  '/accounts/:accountId/lists/:listId': {
    name: 'Other',
    folderName: 'Other',
    description: 'Other',
  },
  '/accounts/:accountId/lists/:listId/contacts/:email': { fields: { Name: 'Other' } },
  '/accounts/:accountId/suppressions/:address': { reason: 'hard_bounce' },
  '/accounts/:accountId/webhooks/:webhookId': {
    url: 'http://127.0.0.1:9/other',
    kinds: ['bounced'],
    format: 'sendgrid',
    credentials: (body: Body) => ({ ...body, format: 'postmark', credentials: 'ann:other' }),
  },
  '/accounts/:accountId/outbox-sources/:sourceId': {
    table: undefined,
    answers: undefined,
    after: 'delete',
    url: (body: Body) => ({ ...body, url: 'postgres://u:p@db.other.test/back' }),
    rowsPerSecond: 7,
  },
  '/accounts/:accountId/retention-rule': { contentDays: 4, addressDays: 4, engagementDays: 4 },
  '/accounts/:accountId/policy': {
    signIn: 'single-sign-on',
    secondFactor: 'owners',
    signInHours: 8,
    peopleNetworks: ['127.0.0.0/8'],
    programNetworks: ['192.0.2.0/24'],
    securityAddress: 'security@back.test',
  },
  '/accounts/:accountId/sign-in-provider': {
    name: 'Other',
    // The stored secret isn't sent to another issuer, or for another client.
    issuer: (body: Body) => ({ ...body, issuer: 'https://other.test', clientSecret: 'another' }),
    clientId: (body: Body) => ({ ...body, clientId: 'other', clientSecret: 'another' }),
    clientSecret: 'another secret',
    trustEmail: true,
    members: [{ role: 'viewer', group: 'others' }],
  },
};

/** Views show these members otherwise. */
const shownAs: Readonly<Record<string, string>> = { reason: 'items', warmUpGoal: 'warmUp' };
/** Members whose values are personal, secret or content. */
const withoutValues = [
  'modifiedAt',
  'fields',
  'items',
  'content',
  'changedAt',
  'url',
  'html',
  'mjml',
  'text',
];

for (const route of routeTable) {
  const { method, path: pattern, operation } = route;
  const values = otherValues[pattern];
  if (method !== 'PUT' || operation.body === undefined || operation.accepts !== undefined) continue;
  // A saved filter concerns only the person who has it.
  if (pattern.endsWith('/saved-filters/:filterName')) continue;
  test(`the audit log names every member of ${pattern} that changes, with its old and new value`, async () => {
    assert.deepEqual(
      Object.keys(membersOf(operation.body)).sort(),
      Object.keys(values ?? {}).sort(),
      'a member without another value here can be forgotten',
    );
    const where = resources.get(pattern) ?? '';
    for (const [member, value] of Object.entries(values ?? {})) {
      const before = await owner.get(where);
      const { bodyMember } = operation;
      const given = (bodyMember === undefined ? before.body : before.body[bodyMember]) as Body;
      const body = Object.fromEntries(
        Object.entries(given).filter(([name]) => Object.hasOwn(values ?? {}, name)),
      );
      const changed = typeof value === 'function' ? value(body) : { ...body, [member]: value };
      const newest = await newestEvent();
      const put = await owner.put(where, JSON.parse(JSON.stringify(changed)));
      assert.ok(put.status === 200 || put.status === 201, `${member}: ${put.text}`);
      const event = await newestEvent();
      if (value === undefined) {
        assert.equal(event?.id, newest?.id);
        continue;
      }
      assert.notEqual(event?.id, newest?.id, `the change of ${member} isn’t in the audit log`);
      const name = bodyMember ?? shownAs[member] ?? member;
      const names = event?.detail.changed.split(', ') ?? [];
      assert.ok(names.includes(name), `${member} isn’t in ${names}`);
      for (const each of names) {
        const found = event?.detail.changes.find((change) => change.name === each);
        if (withoutValues.includes(each) || !Object.hasOwn(put.body, each))
          assert.equal(found, undefined);
        else
          assert.deepEqual(
            [found?.from, found?.to],
            [before.body[each] ?? null, put.body[each] ?? null],
          );
      }
      // A view doesn't contain the secret, which another issuer needs.
      const secret = Object.hasOwn(values ?? {}, 'clientSecret') && { clientSecret: 'a secret' };
      const restored = await owner.put(where, { ...body, ...secret });
      assert.ok(restored.status === 200 || restored.status === 201, restored.text);
    }
  });
}

interface AuditedChange {
  readonly id: string;
  readonly detail: {
    readonly changed: string;
    readonly changes: readonly { name: string; from: unknown; to: unknown }[];
  };
}

async function newestEvent(): Promise<AuditedChange | undefined> {
  const { rows } = await database.pool.query<AuditedChange>(
    `select id, detail from audit_event where kind like '%_changed' order by at desc, id desc limit 1`,
  );
  return rows[0];
}
