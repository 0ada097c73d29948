import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { DkimKeyStore } from '../../../src/accounts/sender/dkim-key-store.ts';
import { DomainDirectory } from '../../../src/accounts/sender/sender-directory.ts';
import {
  addSendingDomain,
  removeSendingDomain,
} from '../../../src/accounts/sender/sending-domain-store.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { saveShop } from '../../support/shop.ts';
import { testKey } from '../../support/test-service.ts';
import { changeTimeoutMs, createTwoNodes } from '../../support/two-nodes.ts';
import { waitFor } from '../../support/wait-for.ts';

const nodes = await createTwoNodes();
const { kysely } = nodes.database;
const directory = new DomainDirectory(nodes.database, nodes.second, new DkimKeyStore(testKey));
const shop = 'shop' as AccountId;

before(async () => {
  await nodes.start();
  await saveShop(nodes.database, { id: shop });
});

test('a domain that was looked for in vain is found on every node within a second of its creation', async () => {
  const find = async (name: string) => (await directory.find(shop, name))?.domain;
  assert.equal(await find('mail.shop.test'), undefined);
  assert.equal(await find('mail.shop.test'), undefined);
  await kysely
    .transaction()
    .execute((transaction) => addSendingDomain(transaction, shop, 'shop.test', 'b.shop.test'));
  await waitFor(
    'the parent domain',
    async () => (await find('mail.shop.test')) === 'shop.test',
    changeTimeoutMs,
  );
  await kysely
    .transaction()
    .execute((transaction) => removeSendingDomain(transaction, shop, 'shop.test'));
  await waitFor(
    'the domain to be gone',
    async () => (await find('mail.shop.test')) === undefined,
    changeTimeoutMs,
  );
});
