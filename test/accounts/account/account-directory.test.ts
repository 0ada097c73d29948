import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Account } from '../../../src/accounts/account/account.ts';
import { AccountDirectory } from '../../../src/accounts/account/account-directory.ts';
import { saveAccount } from '../../../src/accounts/account/account-store.ts';
import {
  removeMembership,
  saveMembership,
} from '../../../src/accounts/account/membership-store.ts';
import {
  createPerson,
  findPersonByEmail,
  renamePerson,
  setPasswordHash,
} from '../../../src/accounts/account/person-store.ts';
import type { AccountId, PersonId } from '../../../src/base/values/ids.ts';
import { changeTimeoutMs, createTwoNodes } from '../../support/two-nodes.ts';
import { waitFor } from '../../support/wait-for.ts';

const nodes = await createTwoNodes();
const { kysely } = nodes.database;
const first = new AccountDirectory(nodes.database, nodes.first);
const second = new AccountDirectory(nodes.database, nodes.second);
before(() => nodes.start());

const shop: Account = {
  id: 'shop' as AccountId,
  name: 'Shop',
  addOns: new Set(['transactional']),
  suspended: false,
  retentionDays: 90,
};

function change<Result>(work: (transaction: typeof kysely) => Promise<Result>): Promise<Result> {
  return kysely.transaction().execute(work);
}

test('an account is read once, then returned from memory without a promise', async () => {
  await change((transaction) => saveAccount(transaction, shop));
  assert.deepEqual(await first.account(shop.id), shop);
  // The notification of the account's creation may still be on its way and evict it once more.
  const again = await waitFor('an answer from memory', () => {
    const response = first.account(shop.id);
    return response instanceof Promise ? undefined : response;
  });
  assert.deepEqual(again, shop);
  assert.equal(await first.account('nobody' as AccountId), undefined);
});

test('accounts looked up concurrently are each returned to their own caller', async () => {
  const second = { ...shop, id: 'second' as AccountId, name: 'Second' };
  await change((transaction) => saveAccount(transaction, second));
  const cold = new AccountDirectory(nodes.database, nodes.first);
  const ids = ['second', 'nobody', 'shop'] as AccountId[];
  assert.deepEqual(await Promise.all(ids.map((id) => cold.account(id))), [second, undefined, shop]);
});

test('an account suspended on one node is suspended on the other within a second', async () => {
  await first.account(shop.id);
  await second.account(shop.id);
  await change((transaction) => saveAccount(transaction, { ...shop, suspended: true }));
  for (const directory of [first, second]) {
    await waitFor(
      'the suspension',
      async () => (await directory.account(shop.id))?.suspended,
      changeTimeoutMs,
    );
  }
  await change((transaction) => saveAccount(transaction, shop));
  await waitFor(
    'the end of the suspension',
    async () => (await second.account(shop.id))?.suspended === false,
    changeTimeoutMs,
  );
});

test('memberships are ordered by creation, even within one transaction', async () => {
  const ids = ['z-first', 'a-second', 'm-third'] as AccountId[];
  const person = await change(async (transaction) => {
    const made = await createPerson(transaction, {
      email: 'Order@shop.test',
      name: 'Order',
      passwordHash: undefined,
    });
    for (const id of ids) {
      await saveAccount(transaction, { ...shop, id });
      await saveMembership(transaction, { accountId: id, personId: made.id, role: 'owner' });
    }
    return made;
  });
  assert.deepEqual(
    (await second.memberships({ personId: person.id, reach: 'all' })).map(
      (membership) => membership.accountId,
    ),
    ids,
  );
  await change((transaction) => removeMembership(transaction, ids[0] as AccountId, person.id));
  await waitFor(
    'the end of the membership',
    async () =>
      (await second.memberships({ personId: person.id, reach: 'all' }))[0]?.accountId ===
      'a-second',
    changeTimeoutMs,
  );
});

test('an unknown person has no memberships', async () => {
  const nobody = '01890000-0000-7000-8000-000000000000' as PersonId;
  assert.deepEqual(await first.memberships({ personId: nobody, reach: 'all' }), []);
  assert.equal(await first.person(nobody), undefined);
});

test('people are found by email address, ignoring case, with their password hash', async () => {
  const made = await change((transaction) =>
    createPerson(transaction, { email: 'Ann@Shop.test', name: 'Ann', passwordHash: 'hash' }),
  );
  assert.deepEqual(await findPersonByEmail(kysely, 'aNN@shop.TEST'), {
    id: made.id,
    email: 'ann@shop.test',
    name: 'Ann',
    disabled: false,
    passwordHash: 'hash',
  });
  await change((transaction) => setPasswordHash(transaction, made.id, 'other'));
  assert.equal((await findPersonByEmail(kysely, 'ann@shop.test'))?.passwordHash, 'other');
});

test('a renamed person has the new name on every node within a second', async () => {
  const made = await change((transaction) =>
    createPerson(transaction, { email: 'bo@shop.test', name: 'Bo', passwordHash: undefined }),
  );
  assert.equal((await second.person(made.id))?.name, 'Bo');
  await change((transaction) => renamePerson(transaction, made.id, 'Bob'));
  await waitFor(
    'the new name',
    async () => (await second.person(made.id))?.name === 'Bob',
    changeTimeoutMs,
  );
});
