import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveAccount } from '../../src/accounts/account/account-store.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import { replacePersonPassword } from '../../src/accounts/sign-in/change-password.ts';
import {
  beginEnrollment,
  consumeTimeStep,
  removeAuthenticator,
} from '../../src/accounts/sign-in/second-factor-store.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { applyManifest } from '../../src/operating/manifest/apply-manifest.ts';
import { parseManifest } from '../../src/operating/manifest/parse-manifest.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { getToken, openShop, publishShopTemplate } from '../../test/support/shop.ts';
import { signedInManager } from '../../test/support/signed-in-manager.ts';
import { linkIn, systemMailTo } from '../../test/support/system-mail-reader.ts';
import { TestBrowser } from '../../test/support/test-browser.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const shop = await openShop(database);
await saveMembership(database.kysely, {
  accountId: shop.id,
  personId: shop.owner.id,
  role: 'owner',
});
const world = new SessionWorld(database, shop.id);
const operator = await world.addPerson({ accounts: [] });
await setOperator(database.kysely, operator.id, true);
await publishShopTemplate(database, shop, {
  id: 'password-link',
  sender: 'orders@shop.test',
  source: {
    subject: 'Choose',
    previewText: '',
    html: '<a href="{{Reset Link}}">choose</a>',
    fields: { 'Reset Link': { secret: false } },
  },
});
const service = await startTestService({ databaseUrl });
const manager = await signedInManager(service, operator.email);
const owner = await signedInManager(service, shop.owner.email);
const systemId = '.system';
const templates = '/installation/mail-templates';

async function askForPassword(email: string): Promise<void> {
  const browser = new TestBrowser(service.url);
  await browser.submit(await browser.open('/forgot-password'), { email });
}

test('ASVS 2.5.1: an account’s template is never used for system mail', async () => {
  await askForPassword(operator.email);
  const mail = await systemMailTo(service.url, operator.email, /Set your password/);
  const link = linkIn(mail, 'set-password');
  const { rows } = await database.pool.query(
    'select content::text as content from message where account_id = $1',
    [shop.id],
  );
  assert.deepEqual(rows, [], 'no account has the message');
  const listed = await owner.get(`/accounts/${shop.id}/messages`);
  assert.deepEqual(listed.body.items, []);
  await waitFor('the link to be gone with the end of the message', async () => {
    const kept = await database.pool.query(
      'select content::text as content from message where account_id = $1',
      [systemId],
    );
    return kept.rows.every(({ content }) => !String(content).includes(link));
  });
});

test('ASVS 4.2.1: the system account can’t be addressed by any request, key, header or manifest', async () => {
  for (const path of ['', '/messages', '/templates', '/users', '/suppressions', '/keys']) {
    for (const caller of [manager, owner])
      assert.ok((await caller.get(`/accounts/${systemId}${path}`)).status >= 400, path);
  }
  const named = `/installation/accounts/${systemId}`;
  assert.ok((await manager.get(named)).status >= 400);
  assert.ok((await manager.put(named, { name: 'Mine' })).status >= 400);
  const listed = (await manager.get('/installation/accounts')).body.items as { id: string }[];
  assert.deepEqual(
    listed.map(({ id }) => id),
    [shop.id],
  );
  const token = await getToken(service, shop);
  const sent = await new SendClient(service, token).send({ account: systemId });
  assert.ok([400, 401].includes(sent.status));
  const list = await sendRequest(`${service.url}/api/1/list`, {
    headers: { authorization: `Bearer ${token}`, 'x-account-id': systemId },
  });
  assert.ok(list.status >= 400, list.text);
  const yaml = `accounts: [{ id: "${systemId}", name: Mine }]`;
  await assert.rejects(async () => {
    const manifest = await parseManifest({ name: 'm.yaml', folder: '', text: yaml }, {});
    await applyManifest(database, testKey, manifest);
  });
  await assert.rejects(
    saveMembership(database.kysely, {
      accountId: systemId as AccountId,
      personId: shop.owner.id,
      role: 'owner',
    }),
    /membership_not_system/,
  );
});

test('ASVS 4.1.1: only operators can read and replace system mail templates', async () => {
  const text = { subject: 'Mine', html: '<a href="{{Link}}">go</a>' };
  for (const caller of [owner, await signedInManager(service, (await world.addPerson()).email)]) {
    assert.equal((await caller.get(templates)).status, 403);
    assert.equal((await caller.put(`${templates}/password-link`, text)).status, 403);
    assert.equal((await caller.delete(`${templates}/password-link`)).status, 403);
  }
  assert.equal(((await manager.get(templates)).body.items as unknown[]).length, 4);
});

test('ASVS 8.3.4: the link in a replaced text is secret, required and not allowed in the subject', async () => {
  const at = `${templates}/password-link`;
  const secret = { subject: 'S', html: '<a href="{{Link}}">go</a>', fields: { Link: {} } };
  const wrong = [
    [secret, /fields/],
    [{ subject: 'S', html: '<p>No link</p>' }, /must use the field Link/],
    [{ subject: 'S', html: '<p>{{Link}}</p>', text: 'none' }, /"field":"text"/],
    [{ subject: 'S {{Link}}', html: '<p>{{Link}}</p>' }, /"field":"subject"/],
    [{ subject: 'S', html: '<p>{{Link}} {{Other}}</p>' }, /unknown field Other/],
    [{ subject: 'S', html: '<p>{{#Link}}</p>' }, /"field":"html"/],
  ] as const;
  for (const [body, problem] of wrong) {
    const response = await manager.put(at, body);
    assert.equal(response.status, 422, response.text);
    assert.match(response.text, problem);
  }
  const made = await manager.put(at, {
    subject: 'Our own words',
    html: '<a href="{{Link}}">go</a> <a href="https://shop.test/">shop</a>',
  });
  assert.equal(made.status, 201, made.text);
  const person = await world.addPerson();
  await askForPassword(person.email);
  const mail = await systemMailTo(service.url, person.email, /Our own words/);
  linkIn(mail, 'set-password');
  const { rows } = await database.pool.query<{ compiled: { fields: unknown } }>(
    "select compiled from template_version where account_id = $1 and template_id = 'password-link'",
    [systemId],
  );
  assert.match(
    JSON.stringify(rows[0]?.compiled.fields),
    /"name":"Link"[^}]*"secret":true|"secret":true[^}]*"name":"Link"/,
  );
  assert.match(mail.html, /href="https:\/\/shop\.test\/"/, 'nothing is tracked');
  assert.equal((await manager.delete(at)).status, 204);
});

test('ASVS 2.2.3: every change of credentials, owners, operators and keys sends a notice', async () => {
  const person = await world.addPerson();
  const noticeTo = (email: string, subject: RegExp) => systemMailTo(service.url, email, subject);
  await database.kysely
    .transaction()
    .execute((transaction) => replacePersonPassword(transaction, person.id, 'x'));
  assert.match(
    (await noticeTo(person.email, /password was changed/)).text,
    /sign out everywhere, set a new password/,
  );
  const { kysely } = database;
  await beginEnrollment(kysely, person.id, Buffer.from('x'));
  assert.ok(await consumeTimeStep(kysely, person.id, 1));
  await noticeTo(person.email, /Authenticator app added/);
  assert.ok(await consumeTimeStep(kysely, person.id, 2));
  await removeAuthenticator(kysely, person.id);
  await noticeTo(person.email, /Authenticator app removed/);
  await saveMembership(database.kysely, {
    accountId: shop.id,
    personId: person.id,
    role: 'owner',
  });
  assert.match(
    (await noticeTo(shop.owner.email, /New account owner/)).text,
    new RegExp(person.email),
  );
  await noticeTo(person.email, /now an account owner/);
  await saveMembership(database.kysely, {
    accountId: shop.id,
    personId: person.id,
    role: 'viewer',
  });
  await noticeTo(shop.owner.email, /owner removed/);
  await noticeTo(person.email, /no longer an account owner/);
  await setOperator(database.kysely, person.id, true);
  await noticeTo(operator.email, /New operator/);
  await noticeTo(person.email, /now an operator/);
  await setOperator(database.kysely, person.id, false);
  const key = { name: 'Shop <b>one</b>', scopes: ['lists:read'] };
  assert.equal((await owner.post(`/accounts/${shop.id}/keys`, key)).status, 201);
  const notice = await noticeTo(shop.owner.email, /New API key/);
  assert.match(notice.html, /Shop &lt;b&gt;one&lt;\/b&gt;/);
  assert.match(notice.text, new RegExp(shop.owner.email));
  const added = await readInbox(service.url, `?to=${person.email}`);
  assert.equal(added.filter(({ subject }) => subject === 'Authenticator app added').length, 1);
});

test('ASVS 2.2.3: a notice is committed with its change and sent exactly once', async () => {
  const person = await world.addPerson({ accounts: [] });
  await service.stop();
  await assert.rejects(
    database.kysely.transaction().execute(async (transaction) => {
      await replacePersonPassword(transaction, person.id, 'x');
      throw new Error('the process dies before the commit');
    }),
  );
  const waiting = async () => {
    const { rows } = await database.pool.query<{ count: number }>(
      'select count(*)::int as count from system_mail where person_id = $1',
      [person.id],
    );
    return rows[0]?.count;
  };
  assert.equal(await waiting(), 0);
  await database.kysely
    .transaction()
    .execute((transaction) => replacePersonPassword(transaction, person.id, 'x'));
  assert.equal(await waiting(), 1);
  // Accepted, but killed before that was recorded: the row still exists.
  const { rows } = await database.pool.query('select * from system_mail where person_id = $1', [
    person.id,
  ]);
  const nodes = await Promise.all([1, 2].map(() => startTestService({ databaseUrl })));
  const [node] = nodes;
  assert.ok(node);
  await systemMailTo(node.url, person.email, /password was changed/);
  await waitFor('the row to be gone', async () => (await waiting()) === 0);
  const { id, kind, to_address, facts } = rows[0] as Record<string, unknown>;
  await database.pool.query(
    'insert into system_mail (id, kind, to_address, person_id, facts) values ($1, $2, $3, $4, $5)',
    [id, kind, to_address, person.id, facts],
  );
  await waitFor('the row to be gone again', async () => (await waiting()) === 0);
  const { rows: messages } = await database.pool.query(
    "select from message where account_id = $1 and content ->> 'to' = $2",
    [systemId, person.email],
  );
  assert.equal(messages.length, 1);
});

test('ASVS 2.2.3: notices never mention another account', async () => {
  const other = await world.addPerson({ accounts: [] });
  await saveAccount(database.kysely, {
    id: '46900' as AccountId,
    name: 'Other',
    addOns: new Set(),
    suspended: false,
    retentionDays: 90,
  });
  const accountId = '46900' as AccountId;
  await saveMembership(database.kysely, { accountId, personId: other.id, role: 'owner' });
  const { rows } = await database.pool.query(
    "select from system_mail where facts ->> 'accountId' = '46900'",
  );
  assert.equal(rows.length, 0, 'the first owner of a new account causes no notice');
});
