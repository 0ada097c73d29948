import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transferApiKeys } from '../../src/accounts/access/api-key-store.ts';
import { issueApiKey } from '../../src/accounts/access/issue-api-key.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { disablePerson } from '../../src/accounts/sign-in/disable-person.ts';
import type { PersonId } from '../../src/base/values/ids.ts';
import { addKey } from '../support/api-key.ts';
import { SendClient } from '../support/send-client.ts';
import { SessionWorld } from '../support/session-world.ts';
import { openSharedShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

const managed = await openSharedShop({ worker: false });
const { database, service, shop, owner: operator } = managed;
await managed.makeOperator();
const world = new SessionWorld(database, shop.id);

async function addPerson(role: 'owner' | 'developer') {
  const person = await world.addPerson({ accounts: [] });
  await saveMembership(database.kysely, { accountId: shop.id, personId: person.id, role });
  return person;
}

async function keysOf(personId: PersonId): Promise<number> {
  const { rows } = await database.pool.query(
    'select count(*)::integer as count from api_key where created_by = $1',
    [personId],
  );
  return rows[0].count;
}

test('ASVS 4.0.3 3.3.3: an operator who disables a person revokes their keys or transfers them to an owner', async () => {
  const leaver = await addPerson('developer');
  const key = await addKey(database, shop.id, { createdBy: leaver.id });
  const sender = new SendClient(service, key, shop.id);
  const person = `/installation/people/${leaver.email}`;
  for (const wrong of ['nobody@shop.test', leaver.email, (await addPerson('developer')).email]) {
    const refused = await operator.put(`${person}?keysTo=${wrong}`, { disabled: true });
    assert.equal(refused.status, 422, wrong);
    assert.match(refused.text, /"field":"keysTo"/);
  }
  assert.equal((await sender.send()).status, 200);
  const newOwner = await addPerson('owner');
  const done = await operator.put(`${person}?keysTo=${newOwner.email}`, { disabled: true });
  assert.equal(done.status, 200, done.text);
  assert.equal((await sender.send()).status, 200);
  assert.deepEqual([await keysOf(leaver.id), await keysOf(newOwner.id)], [0, 1]);
  const { rows } = await database.pool.query(
    `select account_id, detail from audit_event where kind = 'api_keys_taken_over'`,
  );
  assert.deepEqual(rows, [
    { account_id: shop.id, detail: { id: leaver.email, by: newOwner.email, count: 1 } },
  ]);
  assert.equal(
    (await operator.put(`/installation/people/${newOwner.email}`, { disabled: true })).status,
    200,
  );
  await waitFor('the key to end', async () => (await sender.send()).status === 401, 1_000);
});

test('ASVS 4.0.3 11.1.6: a key is not created if its creator is disabled concurrently', async () => {
  const maker = await addPerson('developer');
  const { making } = await database.kysely.transaction().execute(async (disabling) => {
    await disablePerson(disabling, { operatorSecondFactor: false, provider: undefined }, maker.id);
    const making = database.kysely.transaction().execute((transaction) =>
      issueApiKey(transaction, {
        accountId: shop.id,
        name: 'Left behind',
        scopes: ['messages:send'],
        networks: null,
        templates: null,
        createdBy: maker.id,
        expiresAt: undefined,
      }),
    );
    await waitForLock(database);
    return { making };
  });
  assert.ok((await making).problem);
  assert.equal(await keysOf(maker.id), 0);
});

test('ASVS 4.0.3 11.1.6: keys transferred to a person who is demoted concurrently are revoked', async () => {
  const leaver = await addPerson('developer');
  const newOwner = await addPerson('owner');
  await addKey(database, shop.id, { createdBy: leaver.id });
  const { demoting } = await database.kysely.transaction().execute(async (takingOver) => {
    assert.equal(await transferApiKeys(takingOver, shop.id, leaver.id, newOwner.id), 1);
    const demoting = saveMembership(database.kysely, {
      accountId: shop.id,
      personId: newOwner.id,
      role: 'viewer',
    });
    await waitForLock(database);
    return { demoting };
  });
  await demoting;
  assert.deepEqual([await keysOf(leaver.id), await keysOf(newOwner.id)], [0, 0]);
  assert.equal(await transferApiKeys(database.kysely, shop.id, leaver.id, newOwner.id), 0);
});
