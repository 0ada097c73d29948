import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { openManagedShop } from '../support/management-client.ts';
import { SendClient } from '../support/send-client.ts';
import { getToken } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const receivedTypes: string[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    receivedTypes.push(body);
    response.end('ok');
  });
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
after(() => receiver.close());
const { port } = receiver.address() as AddressInfo;

const { database, url } = await createTestDatabase();
const service = await startTestService({
  databaseUrl: url,
  environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' },
});
const managed = await openManagedShop(database, service);
const { owner, path } = managed;

test('a webhook receives events, has a log and can replay an event', async () => {
  const made = await owner.post(`${path}/webhooks`, {
    url: `http://127.0.0.1:${port}/hook`,
    kinds: ['delivered'],
  });
  assert.equal(made.status, 201, made.text);
  const webhook = `${path}/webhooks/${made.body.id}`;
  assert.equal((await owner.get(webhook)).text.includes(String(made.body.secret)), false);
  const sender = new SendClient(service, await getToken(service, managed.shop));
  assert.equal((await sender.send()).status, 200);
  const delivered = await waitFor('the event to be delivered', async () => {
    const { body } = await owner.get(`${webhook}/deliveries?state=delivered`);
    return (body.items as { eventId: string }[])[0];
  });
  assert.equal(receivedTypes.length, 1);
  const again = await owner.post(`${webhook}/replay`, { eventId: delivered.eventId });
  assert.deepEqual(again.body, { events: 1 });
  await waitFor('the event again', () => receivedTypes.length === 2);
  assert.notEqual((await owner.post(`${webhook}/pause`)).body.pausedAt, null);
  assert.equal((await owner.post(`${webhook}/resume`)).body.pausedAt, null);
  const rotated = await owner.post(`${webhook}/secret`);
  assert.notEqual(rotated.body.secret, made.body.secret);
  assert.equal((await owner.delete(webhook)).status, 204);
  assert.equal((await owner.get(webhook)).status, 404);
});

test('a webhook can’t reach private networks', async () => {
  for (const address of [
    'http://example.com/',
    'https://10.0.0.1/',
    'ftp://x/',
    'https://u:p@x.test/',
  ]) {
    const { status } = await owner.post(`${path}/webhooks`, { url: address, kinds: ['delivered'] });
    assert.equal(status, 422, address);
  }
});
