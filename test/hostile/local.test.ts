import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { createOneTimeLink } from '../../src/accounts/sign-in/one-time-link.ts';
import { startBareProxy } from '../support/bare-proxy.ts';
import { ManagementClient } from '../support/management-client.ts';
import { sendRequest } from '../support/send-request.ts';
import { inboxHeaders, metricsHeaders } from '../support/service-tokens.ts';
import { password, SessionWorld } from '../support/session-world.ts';
import { TestBrowser } from '../support/test-browser.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const service = await startTestService({ databaseUrl });
const entrances = {
  'the machine itself': service.url,
  'a bare proxy': await startBareProxy(service.url),
};
const consolePage = { 'x-signalpost-request': '1' };
const stranger = {
  email: 'eve@evil.test',
  name: 'Eve',
  password: 'a very long password',
  accountId: 'evil',
  accountName: 'Evil',
};

for (const [entrance, url] of Object.entries(entrances)) {
  test(`ASVS 4.1.1: a stranger through ${entrance} can neither read nor delete captured mail`, async () => {
    for (const path of [
      '/inbox/api/messages',
      '/manage/v1/inbox/messages',
      '/manage/v1/inbox/messages/01900000-0000-7000-8000-000000000000/source',
    ])
      for (const headers of [
        {},
        { host: 'localhost' },
        { authorization: 'Bearer guessed-token-of-eve' },
      ])
        assert.equal((await sendRequest(url + path, { headers })).status, 401, path);
    assert.equal(
      (await sendRequest(`${url}/inbox/api/messages`, { method: 'DELETE' })).status,
      401,
    );
    assert.equal(
      (await sendRequest(`${url}/manage/v1/inbox/messages`, { method: 'DELETE' })).status,
      401,
    );
    const known = await sendRequest(`${url}/inbox/api/messages`, { headers: inboxHeaders });
    assert.equal(known.status, 200, 'with the token');
  });

  test(`ASVS 4.1.1: a stranger through ${entrance} can't read metrics`, async () => {
    const { status, text } = await sendRequest(`${url}/metrics`);
    assert.equal(status, 401);
    assert.doesNotMatch(text, /process_/);
    const known = await sendRequest(`${url}/metrics`, { headers: metricsHeaders });
    assert.equal(known.status, 200, 'with the token');
  });

  test(`ASVS 2.3.1: a stranger through ${entrance} can't become the first owner, even with expired codes or codes of other kinds`, async () => {
    const page = new ManagementClient({ url }, undefined, consolePage);
    const codeOf = async (purpose: 'set-up' | 'inbox') =>
      (await createOneTimeLink(database, purpose, '')).slice(-43);
    const replaced = await codeOf('set-up');
    const current = await codeOf('set-up');
    const codes = [
      '',
      'x',
      replaced,
      await codeOf('inbox'),
      `${current.slice(0, -1)}~`,
      current.slice(1),
    ];
    for (const code of codes)
      assert.equal((await page.post('/set-up', { ...stranger, code })).status, 403, code);
    assert.equal((await page.post('/set-up', stranger)).status, 422, 'without a code');
    await database.pool.query(
      "update one_time_link set expires_at = now() where purpose = 'set-up'",
    );
    const late = await page.post('/set-up', { ...stranger, code: current });
    assert.equal(late.status, 403, 'a day later');
    assert.deepEqual((await page.get('/set-up')).body, { open: true, demo: false });
    const { rows } = await database.pool.query('select from person');
    assert.equal(rows.length, 0);
  });
}

test('ASVS 2.3.1: of many concurrent uses of one set-up code, one creates an owner, and the code is then invalid', async () => {
  const page = new ManagementClient(service, undefined, consolePage);
  const link = await createOneTimeLink(database, 'set-up', service.url);
  const [, code = ''] = link.split('#set-up=');
  const made = await Promise.all(
    Array.from({ length: 6 }, (_, number) =>
      page.post('/set-up', {
        ...stranger,
        email: `first-${number}@shop.test`,
        accountId: `shop-${number}`,
        code,
      }),
    ),
  );
  assert.deepEqual(made.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
  const { rows } = await database.pool.query('select operator from person');
  assert.deepEqual(rows, [{ operator: true }]);
  const links = await database.pool.query("select from one_time_link where purpose = 'set-up'");
  assert.equal(links.rowCount, 0);
});

test('ASVS 4.1.3: an owner of every account has no operator rights unless named operator', async () => {
  await database.pool.query('delete from account; delete from person');
  const world = new SessionWorld(database);
  const accountId = await world.addAccount();
  const person = await world.addPerson({ accounts: [] });
  await saveMembership(database.kysely, { accountId, personId: person.id, role: 'owner' });
  const browser = new TestBrowser(service.url);
  await browser.submit(await browser.open('/me'), { email: person.email, password });
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const owner = new ManagementClient(service, undefined, { cookie });
  assert.equal((await owner.get('/installation/accounts')).status, 403);
  assert.equal((await owner.get('/me')).body.operator, false);
  await database.pool.query('update person set operator = true where id = $1', [person.id]);
  assert.equal((await owner.get('/installation/accounts')).status, 200);
});
