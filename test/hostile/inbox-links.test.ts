import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import { addKey } from '../support/api-key.ts';
import { ManagementClient } from '../support/management-client.ts';
import { SendClient } from '../support/send-client.ts';
import { sendRequest } from '../support/send-request.ts';
import { SessionWorld } from '../support/session-world.ts';
import { getToken, openShop, publishShopTemplate } from '../support/shop.ts';
import { signIn } from '../support/sign-in.ts';
import { signedInManager } from '../support/signed-in-manager.ts';
import { systemMailTo } from '../support/system-mail-reader.ts';
import { TestBrowser } from '../support/test-browser.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const shop = await openShop(database);
await saveMembership(database.kysely, {
  accountId: shop.id,
  personId: shop.owner.id,
  role: 'owner',
});
await publishShopTemplate(database, shop, { id: 't-0001', sender: 'orders@shop.test' });
const world = new SessionWorld(database, shop.id);
const operator = await world.addPerson();
await setOperator(database.kysely, operator.id, true);
const service = await startTestService({ databaseUrl });
const manager = await signedInManager(service, operator.email);
const owner = await signedInManager(service, shop.owner.email);

test('ASVS 4.1.3: inbox access in the only account, even of an operator, does not allow reading or deleting system mail', async () => {
  const developer = await world.addPerson();
  const key = await addKey(database, shop.id, { scopes: ['inbox:read', 'inbox:write'] });
  const person = await world.addPerson({ accounts: [] });
  await setOperator(database.kysely, person.id, true);
  const browser = new TestBrowser(service.url);
  await browser.submit(await browser.open('/forgot-password'), { email: person.email });
  await systemMailTo(service.url, person.email, /Set your password/);
  const own = await new SendClient(service, await getToken(service, shop)).send();
  assert.equal(own.status, 200, own.text);
  const at = `/accounts/${shop.id}/inbox/messages`;
  const idsOf = async (caller: ManagementClient, query = '', path = at) => {
    const { status, body, text } = await caller.get(path + query);
    assert.equal(status, 200, text);
    return (body.items as { id: string }[]).map(({ id }) => id);
  };
  const search = `?search=${encodeURIComponent(person.email)}`;
  const [hidden] = await idsOf(manager, search, '/inbox/messages');
  assert.ok(hidden, 'the operator sees it');
  const [mine] = await waitFor('the mail of the account', async () => {
    const ids = await idsOf(owner);
    return ids.length > 0 ? ids : undefined;
  });
  for (const caller of [
    owner,
    manager,
    await signedInManager(service, developer.email),
    new ManagementClient(service, key),
  ]) {
    assert.deepEqual(await idsOf(caller, search), []);
    assert.deepEqual(await idsOf(caller), [mine]);
    assert.equal((await caller.get(`${at}/${hidden}`)).status, 404);
  }
  assert.equal((await owner.delete(at)).status, 204);
  assert.ok(
    (await idsOf(manager, search, '/inbox/messages')).includes(hidden),
    'nor does the owner delete it',
  );
  for (const [email, status] of [
    [shop.owner.email, 403],
    [operator.email, 200],
  ] as const) {
    const headers = { cookie: await signIn(service, email) };
    for (const page of ['/inbox', '/inbox/api/messages'])
      assert.equal((await sendRequest(service.url + page, { headers })).status, status, page);
  }
});
