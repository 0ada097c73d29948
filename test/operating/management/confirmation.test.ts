import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissions } from '../../../src/accounts/access/permission.ts';
import { routeTable } from '../../../src/operating/management/route-table.ts';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { password } from '../../support/session-world.ts';
import { TestBrowser } from '../../support/test-browser.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const { database, service, owner, shop, path, as, makeOperator } = await openSharedShop({
  worker: false,
});
await makeOperator();
const viewer = await as('viewer');

/** As if everybody had signed in more than ten minutes ago. */
async function age(): Promise<void> {
  await database.pool.query(
    `update browser_session set authenticated_at = authenticated_at - interval '10 minutes'`,
  );
}

const sensitive = routeTable.filter(({ operation }) => operation.confirmed === true);

test('ASVS 4.0.3 3.7.1: what opens access, ends it or erases data needs a confirmation', () => {
  assert.deepEqual(sensitive.map(({ operation }) => operation.id).toSorted(), [
    'createApiKey',
    'deleteApiKey',
    'deleteIntegration',
    'deleteOperator',
    'deleteOutboxSource',
    'deleteSignInProvider',
    'deleteUser',
    'erasePersonData',
    'exportPersonData',
    'putAnyAccount',
    'putIntegration',
    'putOperator',
    'putOutboxSource',
    'putPerson',
    'putPolicy',
    'putRetentionRule',
    'putSignInProvider',
    'putUser',
    'resendInvitation',
    'rotateApiKey',
    'rotateIntegrationSecret',
  ]);
});

for (const { method, path: pattern, access } of sensitive)
  test(`ASVS 4.0.3 3.7.1: ${method} ${pattern} asks a person who signed in long ago to confirm, and nobody else`, async () => {
    await age();
    const target = pattern
      .replace(':accountId', shop.id)
      .replaceAll(/:(?:email|address)/g, 'nobody@example.test')
      .replace(':clientId', 'none')
      .replaceAll(/:\w+/g, '019a0000-0000-7000-8000-000000000000');
    const body = method === 'GET' ? undefined : {};
    const asked = await owner.call(method, target, body);
    assert.deepEqual(
      [asked.status, asked.body.type],
      [403, '/problems/confirmation-required'],
      asked.text,
    );
    const refused = await viewer.call(method, target, body);
    assert.deepEqual([refused.status, refused.body.type], [403, '/problems/forbidden']);
    if (access === 'operate') return;
    const key = await addKey(database, shop.id, { scopes: permissions });
    const called = await new ManagementClient(service, key).call(method, target, body);
    assert.notEqual(called.body.type, '/problems/confirmation-required');
  });

test('ASVS 4.0.3 3.7.1: after the confirmation the request works, and the console is told', async () => {
  const browser = new TestBrowser(service.url);
  await browser.submit(await browser.open('/me'), { email: shop.owner.email, password });
  await age();
  const create = () => {
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    return new ManagementClient(service, undefined, {
      cookie,
      origin: service.url,
      'x-signalpost-request': '1',
    }).post(`${path}/keys`, { name: 'ci', scopes: ['lists:read'] });
  };
  assert.equal((await create()).status, 403);
  const page = await browser.open('/sign-in/confirm?next=/me/confirmed');
  const wrong = await browser.submit(page, { password: 'not the password' }, '/sign-in/confirm');
  assert.equal(wrong.status, 401);
  assert.equal((await create()).status, 403);
  const done = await browser.submit(page, { password }, '/sign-in/confirm');
  assert.match(done.text, /<p data-confirmed>You can close this window/);
  assert.equal((await create()).status, 201);
});
