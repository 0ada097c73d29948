/**
 * Every door through which a credential sends, and every limit that a credential can have. A new door or limit is one entry of
 * `doors` or `limits`, and a line or column of the table of expected answers.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readApiKeys, removeApiKey } from '../../src/accounts/access/api-key-store.ts';
import { issueApiKey } from '../../src/accounts/access/issue-api-key.ts';
import { keyScopes, type Permission } from '../../src/accounts/access/permission.ts';
import { removeMembership, saveMembership } from '../../src/accounts/account/membership-store.ts';
import type { AccountId, PersonId } from '../../src/base/values/ids.ts';
import { addKey } from '../../test/support/api-key.ts';
import { ManagementClient } from '../../test/support/management-client.ts';
import { bodyWith } from '../../test/support/send-client.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { addSender, openShop, publishShopTemplate, saveShop } from '../../test/support/shop.ts';
import { openSubmissionShop, templateMail } from '../../test/support/submission-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const world = await openSubmissionShop();
const { database, service } = world.shop;

/** An account with two messages that can be resent, each to two recipients: one of a template, one without. */
interface Scene {
  readonly id: AccountId;
  readonly sent: string;
  readonly sentRaw: string;
}

/** What a door sends with; all of it belongs to the account. */
interface Sending extends Scene {
  readonly key: string;
}

interface Door {
  readonly scopes: readonly Permission[];
  /** Recipients of what `send` sends. */
  readonly recipients: number;
  /** @returns the status of HTTP, or the code of the first SMTP reply that refuses */
  send(sending: Sending): Promise<number>;
}

const envelope = { toAddress: 'ada@people.test', ccAddressList: ['ben@people.test'] };

function post(path: string, key: string, body: unknown) {
  return fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function submit({ id, key }: Sending, source: string): Promise<number> {
  const client = await world.open();
  const login = await client.login(id, key);
  const reply = login.startsWith('235')
    ? await client.submit(['ada@people.test', 'ben@people.test'], source)
    : login;
  await client.end();
  return Number(reply.slice(0, 3));
}

async function manage({ id, key }: Sending, path: string, body?: unknown): Promise<number> {
  return (await new ManagementClient(service, key).post(`/accounts/${id}/${path}`, body)).status;
}

const rawMail = 'From: Demo Shop <orders@shop.test>\r\nSubject: Invoice\r\n\r\nHello\r\n';

const doors = {
  'HTTP send': {
    scopes: ['messages:send'],
    recipients: 2,
    send: async ({ id, key }) =>
      (await post(`/ete/v1/email/${id}/t-0001`, key, bodyWith({ envelope }))).status,
  },
  batch: {
    scopes: ['messages:send'],
    recipients: 2,
    async send({ id, key }) {
      const messages = [bodyWith({ envelope })];
      const answer = await post(`/ete/v1/email/${id}/t-0001/batch`, key, { messages });
      const { results } = (await answer.json()) as { results?: { status: number }[] };
      return results?.[0]?.status ?? answer.status;
    },
  },
  'raw SMTP': {
    scopes: ['messages:send', 'messages:send-content'],
    recipients: 2,
    send: (sending) => submit(sending, rawMail),
  },
  'SMTP with a template': {
    scopes: ['messages:send'],
    recipients: 2,
    send: (sending) => submit(sending, templateMail()),
  },
  resend: {
    scopes: ['messages:control', 'messages:send'],
    recipients: 2,
    send: (sending) => manage(sending, `messages/${sending.sent}/resend`),
  },
  'resend without a template': {
    scopes: ['messages:control', 'messages:send', 'messages:send-content'],
    recipients: 1,
    send: (sending) => manage(sending, `messages/${sending.sentRaw}/resend`),
  },
  'test send': {
    scopes: ['messages:test', 'templates:read'],
    recipients: 1,
    send: (sending) => manage(sending, 'templates/t-0001/test-send', { to: 'ada@people.test' }),
  },
} as const satisfies Readonly<Record<string, Door>>;

type DoorName = keyof typeof doors;

interface Limit {
  /** Sets up the limit. @returns the key to send with */
  begin(scene: Scene, door: Door): Promise<string>;
  /** The service may learn of it up to a second later. */
  readonly settles?: true;
}

/** A key that the service has in its cache. */
async function addUsedKey(scene: Scene, { scopes, send }: Door, createdBy?: PersonId) {
  const key = await addKey(database, scene.id, { scopes, ...(createdBy && { createdBy }) });
  await send({ ...scene, key });
  return key;
}

const limits = {
  none: { begin: ({ id }, { scopes }) => addKey(database, id, { scopes }) },
  'another template': {
    begin: ({ id }, { scopes }) =>
      addKey(database, id, {
        scopes: scopes.filter((scope) => scope !== 'messages:send-content'),
        templates: ['other'],
      }),
  },
  'another network': {
    begin: ({ id }, { scopes }) => addKey(database, id, { scopes, networks: ['192.0.2.0/24'] }),
  },
  expiry: {
    begin: ({ id }, { scopes }) => addKey(database, id, { scopes, expiresAt: new Date(1) }),
  },
  revocation: {
    settles: true,
    async begin(scene, door) {
      const key = await addUsedKey(scene, door);
      const [{ id } = { id: '' }] = await readApiKeys(database.kysely, scene.id);
      await removeApiKey(database.kysely, scene.id, id);
      return key;
    },
  },
  'role of its creator ended': {
    settles: true,
    async begin(scene, door) {
      const person = await new SessionWorld(database, scene.id).addPerson({ accounts: [] });
      const member = { accountId: scene.id, personId: person.id, role: 'developer' } as const;
      await saveMembership(database.kysely, member);
      const key = await addUsedKey(scene, door, person.id);
      await removeMembership(database.kysely, scene.id, person.id);
      return key;
    },
  },
  'quota of its recipients': {
    settles: true,
    async begin({ id }, { scopes, recipients }) {
      await saveShop(database, { id, quota: { perHour: recipients, perDay: undefined } });
      return addKey(database, id, { scopes });
    },
  },
  'quota with one recipient less left': {
    settles: true,
    /** One message is within it. */
    async begin({ id }, { scopes, recipients }) {
      await saveShop(database, { id, quota: { perHour: 2 * recipients - 1, perDay: undefined } });
      return addKey(database, id, { scopes });
    },
  },
  suspension: {
    settles: true,
    async begin({ id }, { scopes }) {
      await saveShop(database, { id, suspended: true });
      return addKey(database, id, { scopes });
    },
  },
} as const satisfies Readonly<Record<string, Limit>>;

type LimitName = keyof typeof limits;

const contract = (accepted: number, template: number) => ({
  none: accepted,
  'another template': template,
  'another network': 401,
  expiry: 401,
  revocation: 401,
  'role of its creator ended': 401,
  'quota with one recipient less left': 429,
  'quota of its recipients': accepted,
  suspension: 401,
});

const smtp = (template: number) => ({
  none: 250,
  'another template': template,
  'another network': 535,
  expiry: 535,
  revocation: 535,
  'role of its creator ended': 535,
  'quota with one recipient less left': 451,
  'quota of its recipients': 250,
  suspension: 525,
});

const management = (accepted: number) => ({
  ...contract(accepted, 403),
  'another network': 403,
  suspension: 403,
});

/** The status or reply of each door to each limit. */
const expected: Readonly<Record<DoorName, Readonly<Record<LimitName, number>>>> = {
  'HTTP send': contract(200, 400),
  batch: contract(200, 400),
  'raw SMTP': smtp(550),
  'SMTP with a template': smtp(554),
  resend: management(201),
  'resend without a template': management(201),
  'test send': management(202),
};

async function openScene(id: string): Promise<Scene> {
  const shop = await openShop(database, { id });
  await publishShopTemplate(database, shop, { id: 'other', sender: 'orders@shop.test' });
  const sending = { id: shop.id, sent: '', sentRaw: '', key: await addKey(database, shop.id) };
  for (const door of ['HTTP send', 'raw SMTP'] as const) await doors[door].send(sending);
  const { rows } = await database.pool.query<{ id: string; raw: boolean }>(
    `select id, template_id = '.raw' as raw from message where account_id = $1`,
    [id],
  );
  const find = (raw: boolean) => rows.find((row) => row.raw === raw)?.id ?? '';
  return { id: shop.id, sent: find(false), sentRaw: find(true) };
}

for (const [at, name] of (Object.keys(doors) as DoorName[]).entries())
  test(`${name} respects every limit of a credential`, async () => {
    const door: Door = doors[name];
    const scene = await openScene(`4620${at}`);
    const answers: Partial<Record<LimitName, number>> = {};
    for (const limit of Object.keys(limits) as LimitName[]) {
      const { begin, settles }: Limit = limits[limit];
      const sending = { ...scene, key: await begin(scene, door) };
      const send = () => door.send(sending);
      answers[limit] = await (settles
        ? waitFor(
            `the answer of ${name} to: ${limit}`,
            async () => (await send()) === expected[name][limit] && expected[name][limit],
          )
        : send());
    }
    assert.deepEqual(answers, expected[name]);
  });

for (const [at, name] of (Object.keys(doors) as DoorName[]).entries())
  test(`${name} needs each permission for what it does`, async () => {
    const door: Door = doors[name];
    const scene = await openScene(`4630${at}`);
    for (const missing of door.scopes) {
      const scopes = keyScopes.filter((scope) => scope !== missing);
      const status = await door.send({
        ...scene,
        key: await addKey(database, scene.id, { scopes }),
      });
      assert.ok([401, 403, 535, 550].includes(status), `${status} without ${missing}`);
    }
  });

test('a key limited to templates can’t be created with the right to send other content', async () => {
  const scene = await openScene('46400');
  const created = await database.kysely.transaction().execute((transaction) =>
    issueApiKey(transaction, {
      accountId: scene.id,
      name: 'Plug-in',
      scopes: ['messages:send', 'messages:send-content'],
      networks: null,
      templates: ['other'],
      createdBy: undefined,
      expiresAt: undefined,
    }),
  );
  assert.match(
    created.problem?.reason ?? '',
    /messages:send-content for a key limited to templates/,
  );
  await assert.rejects(
    addKey(database, scene.id, { scopes: ['messages:send-content'], templates: ['other'] }),
    /api_key_content_limit/,
  );
});

test('a message is resent only while its sender is verified and the account has the add-on that it needs', async () => {
  const scene = await openScene('46500');
  const key = await addKey(database, scene.id);
  const manager = new ManagementClient(service, key);
  const resend = (id: string) => manager.post(`/accounts/${scene.id}/messages/${id}/resend`);
  await database.pool.query('update message set transactional = true where id = $1', [scene.sent]);
  assert.equal((await resend(scene.sent)).status, 201);
  await saveShop(database, { id: scene.id, addOns: [] });
  const withoutAddOn = await waitFor('the add-on to end', async () => {
    const answer = await resend(scene.sent);
    return answer.status === 409 && answer;
  });
  assert.match(withoutAddOn.text, /transactional add-on/);
  assert.equal((await resend(scene.sentRaw)).status, 201);
  await addSender(database, scene.id, 'orders@shop.test', { verified: false });
  const unverified = await resend(scene.sentRaw);
  assert.equal(unverified.status, 409);
  assert.match(unverified.text, /envelope.fromAddress is not a verified sender/);
});
