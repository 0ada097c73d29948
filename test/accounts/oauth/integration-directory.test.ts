import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ClientSecretHasher } from '../../../src/accounts/oauth/authenticate-client.ts';
import { IntegrationDirectory } from '../../../src/accounts/oauth/integration-directory.ts';
import {
  type Integration,
  readIntegrations,
  removeIntegration,
  saveIntegration,
} from '../../../src/accounts/oauth/integration-store.ts';
import { MasterKey } from '../../../src/base/secrets/master-key.ts';
import type { AccountId, ClientId } from '../../../src/base/values/ids.ts';
import { saveShop } from '../../support/shop.ts';
import { changeTimeoutMs, createTwoNodes } from '../../support/two-nodes.ts';
import { waitFor } from '../../support/wait-for.ts';

const nodes = await createTwoNodes();
const { kysely } = nodes.database;
const directory = new IntegrationDirectory(nodes.database, nodes.second);
const secrets = new ClientSecretHasher(new MasterKey(Buffer.alloc(32, 1)));
const [shop, other] = ['shop', 'other'] as AccountId[] as [AccountId, AccountId];
const demo: Integration = {
  clientId: 'demo' as ClientId,
  accountId: shop,
  name: 'Demo',
  redirectUri: 'https://localhost/callback',
  grants: new Set(['password', 'refresh_token'] as const),
  disabled: false,
  secretHash: secrets.hash('a secret of many characters'),
};

before(async () => {
  await nodes.start();
  for (const id of [shop, other]) {
    await saveShop(nodes.database, { id });
  }
});

test('a new, changed or removed integration is visible on another node within a second', async () => {
  assert.equal(await saveIntegration(kysely, demo), true);
  const known = { ...demo, requirePkce: false, previousSecret: undefined, allowance: 5 };
  assert.deepEqual(await directory.integration('demo'), known);
  assert.deepEqual(await readIntegrations(kysely, shop), [known]);
  await saveIntegration(kysely, { ...demo, disabled: true });
  await waitFor(
    'the disabled integration',
    async () => (await directory.integration('demo'))?.disabled,
    changeTimeoutMs,
  );
  await removeIntegration(kysely, shop, demo.clientId);
  await waitFor(
    'the integration to be gone',
    async () => (await directory.integration('demo')) === undefined,
    changeTimeoutMs,
  );
});

test('a client id of another account can be neither taken over nor removed', async () => {
  await saveIntegration(kysely, demo);
  assert.equal(await saveIntegration(kysely, { ...demo, accountId: other, name: 'Mine' }), false);
  await removeIntegration(kysely, other, demo.clientId);
  const [kept] = await readIntegrations(kysely, shop);
  assert.equal(kept?.name, 'Demo');
});

test('a client secret is stored as a keyed hash and matches only itself', () => {
  const stored = secrets.hash('one secret');
  assert.equal(secrets.matches('one secret', stored), true);
  assert.equal(secrets.matches('another secret', stored), false);
  assert.equal(secrets.matches('', stored), false);
  assert.equal(secrets.matches('one secret', Buffer.alloc(0)), false);
  const otherInstallation = new ClientSecretHasher(new MasterKey(Buffer.alloc(32, 2)));
  assert.equal(otherInstallation.matches('one secret', stored), false);
});
