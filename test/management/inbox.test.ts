import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedShop } from '../support/management-client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url });
const { owner, path } = await openManagedShop(database, service);
const inbox = `${path}/inbox/messages`;

test('the only account can read the inbox; with a second account, neither can read or empty it', async () => {
  await owner.post(`${path}/templates/t-0001/test-send`, { to: 'first@people.test' });
  const id = await waitFor('the mail to be captured', async () => {
    const { body } = await owner.get(inbox);
    return (body.items as { id: string }[])[0]?.id;
  });
  await database.pool.query(`insert into account (id, name) values ('7777', 'Neighbour')`);
  for (const answer of [
    await owner.get(inbox),
    await owner.get(`${inbox}/${id}`),
    await owner.delete(inbox),
  ]) {
    assert.equal(answer.status, 403);
    assert.match(String(answer.body.detail), /mail of all accounts/);
  }
  await database.pool.query(`delete from account where id = '7777'`);
  assert.equal((await owner.get(`${inbox}/${id}`)).status, 200);
});
