import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { permissionsOf } from '../../../src/accounts/access/permission.ts';
import { addEndpoint } from '../../../src/outcomes/webhook/endpoint-store.ts';
import { SecretBox } from '../../../src/outcomes/webhook/secret-box.ts';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import { openGate, type TcpGate } from '../../support/tcp-gate.ts';
import { testKey } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

let gate: TcpGate | undefined;
const shop = await FeedbackShop.open({ WEBHOOK_NETWORKS: '127.0.0.0/8' }, async (url) => {
  gate = await openGate(url);
  return gate.url;
});
await shop.publish('note', '<p>Note</p>');

/** Requests that each path of the receiver got; those to /held get a response on `release`. */
const paths: (string | undefined)[] = [];
const { promise: released, resolve: release } = Promise.withResolvers<void>();
const receiver = createServer(async (request, response) => {
  paths.push(request.url);
  if (request.url === '/held') await released;
  response.end();
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
after(() => receiver.close());
const { port } = receiver.address() as AddressInfo;

async function openEndpoint(path: string): Promise<void> {
  const url = `http://127.0.0.1:${port}${path}`;
  const box = new SecretBox(testKey);
  await addEndpoint(shop.database.kysely, box, shop.shop.id, {
    url,
    kinds: ['accepted'],
    permissions: permissionsOf.owner,
  });
}

test('webhooks continue after an outage of the database during which a job ended', async () => {
  assert.ok(gate);
  await openEndpoint('/held');
  await shop.client.send();
  await waitFor('the first event', () => paths.includes('/held'));
  gate.close();
  const { blockedCount } = gate;
  release();
  await waitFor(
    'the service to look for its database',
    () => (gate?.blockedCount ?? 0) > blockedCount + 20,
  );
  gate.open();
  await openEndpoint('/later');
  await waitFor('a later event', async () => {
    await shop.client.send();
    return paths.includes('/later');
  });
  // While the database is reachable: the gate closes before the service stops.
  await shop.service.stop();
});
