import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MasterKey } from '../../src/base/secrets/master-key.ts';
import { addEarlierKey } from '../support/api-key.ts';
import { ManagementClient } from '../support/management-client.ts';
import { passwordFields, postToken, SessionWorld } from '../support/session-world.ts';
import { restoreTestKey, testKey } from '../support/test-service.ts';
import { openSharedShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, service, shop, path } = await openSharedShop({ worker: false });
const world = new SessionWorld(database);
await world.addAccount();

const [oldSecret, newSecret] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)] as const;
const oldName = testKey.fingerprint;
const newName = new MasterKey(newSecret).fingerprint;

after(restoreTestKey);

async function machine(): Promise<ManagementClient> {
  return new ManagementClient(service, await addEarlierKey(database, testKey, shop.id));
}

test('ASVS 4.0.3 6.4.1: API keys and client secrets used during a rotation outlive the leaked key; others end with it', async () => {
  const [used, idle] = [await machine(), await machine()];
  const [busy, quiet] = [await world.addIntegration(), await world.addIntegration()];
  const person = await world.addPerson();
  const grant = async (client: typeof busy) =>
    (await postToken(service, passwordFields(person, client))).status;
  const storedSecret = async () => {
    const { rows } = await database.pool.query(
      "select encode(secret_hash, 'hex') as hash from integration where client_id = $1",
      [busy.clientId],
    );
    return rows[0]?.hash;
  };
  testKey.addSecrets([oldSecret, newSecret]);
  assert.equal(testKey.select(newName, oldName), undefined);
  assert.equal((await used.get(`${path}/lists`)).status, 200);
  const before = await storedSecret();
  assert.equal(await grant(busy), 200);
  await waitFor('the secret to be stored again', async () => (await storedSecret()) !== before);

  testKey.select(newName, null);
  assert.equal((await used.get(`${path}/lists`)).status, 200);
  assert.equal((await idle.get(`${path}/lists`)).status, 401);
  await waitFor('the secret to be announced', async () => (await grant(busy)) === 200);
  assert.equal(await grant(quiet), 401);
});
