import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, owner, path, shop, as } = await openTestShop();
const inbox = `${path}/inbox/messages`;

/** Whether the console shows the inbox to a caller. */
async function seesInbox(client: ManagementClient): Promise<boolean> {
  return (await client.get('/me')).body.inbox === true;
}

test('the only account can read the inbox; with a second account, neither can read or empty it, or is told to have one', async () => {
  await owner.post(`${path}/templates/t-0001/test-send`, { to: 'first@people.test' });
  const id = await waitFor('the mail to be captured', async () => {
    const { body } = await owner.get(inbox);
    return (body.items as { id: string }[])[0]?.id;
  });
  await database.pool.query(`insert into account (id, name) values ('7777', 'Neighbour')`);
  for (const response of [
    await owner.get(inbox),
    await owner.get(`${inbox}/${id}`),
    await owner.delete(inbox),
    await owner.delete(`${inbox}/${id}`),
  ]) {
    assert.equal(response.status, 403);
    assert.match(String(response.body.detail), /mail of all accounts/);
  }
  assert.equal(await seesInbox(owner), false);
  await database.pool.query(`delete from account where id = '7777'`);
  assert.equal((await owner.get(`${inbox}/${id}`)).status, 200);
  assert.equal(await seesInbox(owner), true);
});

test('a captured mail is deleted once, by those who can empty the inbox', async () => {
  await owner.post(`${path}/templates/t-0001/test-send`, { to: 'second@people.test' });
  const id = await waitFor('the mail to be captured', async () => {
    const { body } = await owner.get(`${inbox}?search=second@people.test`);
    return (body.items as { id: string }[])[0]?.id;
  });
  assert.equal((await (await as('marketer')).delete(`${inbox}/${id}`)).status, 403);
  assert.equal((await (await as(undefined)).delete(`${inbox}/${id}`)).status, 404);
  const reader = new ManagementClient(
    service,
    await addKey(database, shop.id, { scopes: ['inbox:read'] }),
  );
  assert.equal((await reader.delete(`${inbox}/${id}`)).status, 403);
  assert.equal((await owner.get(`${inbox}/${id}`)).status, 200);
  assert.equal((await owner.delete(`${inbox}/${id}`)).status, 204);
  assert.equal((await owner.get(`${inbox}/${id}`)).status, 404);
  assert.equal((await owner.delete(`${inbox}/${id}`)).status, 404);
  assert.ok(((await owner.get(inbox)).body.items as unknown[]).length > 0, 'others stay');
});
