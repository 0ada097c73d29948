import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { permissionsOf } from '../../src/accounts/access/permission.ts';
import { policies } from '../../src/base/fairness/policies.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { RunningImports } from '../../src/operating/management/import/running-imports.ts';
import { addEndpoint } from '../../src/outcomes/webhook/endpoint-store.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { addKey } from '../../test/support/api-key.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { openManagedShop } from '../../test/support/management-client.ts';
import { openRawRequest } from '../../test/support/raw-connection.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const shop = await FeedbackShop.open({ WEBHOOK_NETWORKS: '127.0.0.0/8' });
await shop.publish('note', '<p>Note</p>');
const { kysely } = shop.database;
const otherShop = await openShop(shop.database, { id: '46200' });
const other = new SendClient(shop.service, await getToken(shop.service, otherShop));
const box = new SecretBox(testKey);

/** An endpoint that responds at once, or never. */
class Receiver {
  waiting = 0;
  answered = 0;
  readonly #server = createServer((request, response) => {
    request.resume();
    if (this.#silent) this.waiting += 1;
    else {
      this.answered += 1;
      response.end('ok');
    }
  });
  readonly #silent: boolean;

  constructor(silent: boolean) {
    this.#silent = silent;
  }

  /** Starts it and registers it for an account's accepted messages. */
  async open(accountId: AccountId): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    after(() => {
      this.#server.close();
      this.#server.closeAllConnections();
    });
    const { port } = this.#server.address() as AddressInfo;
    await addEndpoint(kysely, box, accountId, {
      url: `http://127.0.0.1:${port}/hook`,
      kinds: ['accepted'],
      permissions: permissionsOf.owner,
    });
  }
}

test('ASVS 4.0.3 11.1.4: an account whose endpoint never responds leaves webhook workers to others', async () => {
  const silent = new Receiver(true);
  const prompt = new Receiver(false);
  await silent.open(shop.shop.id);
  for (let count = 0; count < 40; count += 1) {
    const to = `r${count}@people.test`;
    const body = bodyWith({ envelope: { toAddress: to }, content: { personalizationDataMap: {} } });
    assert.equal((await shop.client.send({ template: 'note', body })).status, 200);
  }
  await waitFor('workers that wait', () => silent.waiting >= 4);
  await prompt.open(otherShop.id);
  const before = silent.waiting;
  const response = await other.send({ account: otherShop.id });
  assert.equal(response.status, 200, response.text);
  await waitFor('the other account’s event', () => prompt.answered === 1);
  // None of the waiting workers had to give up first, which takes 15 seconds.
  // Four leases of an endpoint, with four requests each.
  assert.ok(silent.waiting <= 16, `${before} and then ${silent.waiting} requests waited`);
});

test('ASVS 4.0.3 11.1.4: an account’s uploads leave import slots to others', () => {
  const imports = new RunningImports();
  const take = (account: string) => imports.acquire(account as AccountId);
  const held = Array.from({ length: 8 }, () => take('1')).filter((slot) => slot !== undefined);
  assert.equal(held.length, policies.imports.total - policies.imports.reserve);
  assert.ok(take('2') && take('3'));
  for (const slot of held) slot.release();
  assert.ok(take('1'));
});

test('ASVS 4.0.3 11.1.4: an account with hanging requests leaves the management API to others', async () => {
  const { shop: slow, owner, path } = await openManagedShop(shop.database, shop.service, '46300');
  const neighbor = await openManagedShop(shop.database, shop.service, '46400');
  await owner.put(`${path}/lists/l-0001`, { name: 'Customers' });
  const lock = await shop.database.pool.connect();
  try {
    // Requests that read this account's lists hang from here on.
    await lock.query('begin');
    await lock.query('lock table contact_list in access exclusive mode');
    const responses: number[] = [];
    const requests = Array.from({ length: 60 }, async () => {
      const { status } = await owner.get(`${path}/lists/l-0001`);
      responses.push(status);
    });
    const { total, reserve, wait } = policies.managementRequests;
    const served = total - reserve + (wait?.perSharer ?? 0);
    await waitFor('the refusals', () => responses.length === requests.length - served);
    assert.deepEqual([...new Set(responses)], [429]);
    assert.equal((await neighbor.owner.get(`${neighbor.path}/templates`)).status, 200);
    await lock.query('rollback');
    await Promise.all(requests);
    assert.equal(responses.filter((status) => status === 200).length, served, slow.id);
  } finally {
    lock.release();
  }
});

test('ASVS 4.0.3 11.1.4: bodies of two accounts that don’t arrive hold no slot of the management API', async () => {
  const neighbor = await openManagedShop(shop.database, shop.service, '46410');
  const requests = [];
  for (const id of ['46411', '46412']) {
    const slow = await openShop(shop.database, { id });
    const key = await addKey(shop.database, slow.id, { scopes: ['lists:write'] });
    for (let count = 0; count < policies.managementRequests.total; count += 1)
      requests.push(
        await openRawRequest(shop.service.url, {
          method: 'PUT',
          path: `/manage/v1/accounts/${id}/lists/l-0001`,
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'content-length': '20',
          },
        }),
      );
  }
  assert.equal((await neighbor.owner.get(`${neighbor.path}/templates`)).status, 200);
  assert.deepEqual(
    requests.filter((each) => each.text() !== ''),
    [],
    'they still send',
  );
  for (const { socket } of requests) socket.destroy();
});
