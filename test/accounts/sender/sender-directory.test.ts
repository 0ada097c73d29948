import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { SenderDirectory } from '../../../src/accounts/sender/sender-directory.ts';
import {
  readSenders,
  removeSender,
  saveSender,
} from '../../../src/accounts/sender/sender-store.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { saveShop } from '../../support/shop.ts';
import { changeTimeoutMs, createTwoNodes } from '../../support/two-nodes.ts';
import { waitFor } from '../../support/wait-for.ts';

const nodes = await createTwoNodes();
const { kysely } = nodes.database;
const first = new SenderDirectory(nodes.database, nodes.first);
const second = new SenderDirectory(nodes.database, nodes.second);
const [shop, other] = ['shop', 'other'] as AccountId[] as [AccountId, AccountId];
const orders = { address: 'orders@shop.test', displayNames: ['Shop', 'Orders'], verified: true };

before(async () => {
  await nodes.start();
  for (const id of [shop, other]) {
    await saveShop(nodes.database, { id });
  }
  await saveSender(kysely, shop, orders);
});

test('a sender belongs to one account and keeps its names in order', async () => {
  assert.deepEqual(await first.sender(shop, orders.address), orders);
  assert.equal(await first.sender(other, orders.address), undefined);
  assert.deepEqual(await readSenders(kysely, shop), [orders]);
});

test('creating, changing and removing a sender reaches other nodes within a second', async () => {
  assert.equal(await second.sender(other, 'new@shop.test'), undefined);
  await saveSender(kysely, other, { ...orders, address: 'new@shop.test', verified: false });
  assert.equal((await second.sender(other, 'new@shop.test'))?.verified, false);
  await saveSender(kysely, other, { ...orders, address: 'new@shop.test', verified: true });
  await waitFor(
    'the verified sender',
    async () => (await second.sender(other, 'new@shop.test'))?.verified,
    changeTimeoutMs,
  );
  await removeSender(kysely, other, 'new@shop.test');
  await waitFor(
    'the sender to be gone',
    async () => (await second.sender(other, 'new@shop.test')) === undefined,
    changeTimeoutMs,
  );
});

test('batched lookups return the sender of the right account', async () => {
  await saveSender(kysely, other, { ...orders, displayNames: ['Other'] });
  const cold = new SenderDirectory(nodes.database, nodes.first);
  const lookups = [
    [other, orders.address],
    [other, 'nobody@shop.test'],
    [shop, orders.address],
    ['unknown' as AccountId, orders.address],
  ] as const;
  const found = await Promise.all(
    lookups.map(([account, address]) => cold.sender(account, address)),
  );
  assert.deepEqual(
    found.map((sender) => sender?.displayNames),
    [['Other'], undefined, ['Shop', 'Orders'], undefined],
  );
  await removeSender(kysely, other, orders.address);
});

test('a cached sender is returned synchronously', async () => {
  await first.sender(shop, orders.address);
  await waitFor(
    'an answer from memory',
    () => !(first.sender(shop, orders.address) instanceof Promise),
  );
});
