import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ChangeListener } from '../../src/foundation/change-listener.ts';
import { createLog } from '../../src/foundation/log.ts';
import { dueTopic } from '../../src/queue/announce-due.ts';
import { openManagedShop, signInToManagement } from '../support/management-client.ts';
import { SendClient } from '../support/send-client.ts';
import { sendRequest } from '../support/send-request.ts';
import { metricsHeaders } from '../support/service-tokens.ts';
import { getToken } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const accepting = await startTestService({ databaseUrl: url, roles: ['http'] });
const showing = await startTestService({ databaseUrl: url, roles: ['http'] });
const { shop, path, owner } = await openManagedShop(database, accepting);
const viewer = await signInToManagement(showing, shop.owner.email);
const client = new SendClient(accepting, await getToken(accepting, shop));

async function send(): Promise<string> {
  const answer = await client.send();
  assert.equal(answer.status, 200, answer.text);
  return String(answer.body.messageId);
}

const stateOf = async (id: string) => (await viewer.get(`${path}/messages/${id}`)).body.state;

async function delivered(): Promise<number> {
  const answer = await viewer.get(`${path}/reports?from=2020-01-01&until=2040-01-01`);
  const [row] = answer.body.rows as { counts: { delivered: number } }[];
  return row?.counts.delivered ?? 0;
}

test('a message that one node accepts is delivered by a worker and in the report of a third node', async () => {
  const id = await send();
  assert.equal(await stateOf(id), 'queued');
  assert.equal(await delivered(), 0);
  const worker = await startTestService({ databaseUrl: url, roles: ['worker'] });
  await waitFor('the delivery', async () => (await stateOf(id)) === 'delivered');
  await waitFor('the report', async () => (await delivered()) === 1);
  await worker.stop();
});

test('a node without a worker announces accepted messages to those that have one', async () => {
  const listener = new ChangeListener(database.settings, createLog('silent'));
  after(() => listener.close());
  const { promise: announced, resolve } = Promise.withResolvers<void>();
  await listener.start();
  listener.subscribe(dueTopic, () => resolve());
  await send();
  await announced;
});

test('without a worker, a message is accepted and waits', async () => {
  const id = await send();
  assert.equal(await stateOf(id), 'queued');
  const message = await owner.get(`${path}/messages/${id}`);
  const [recipient] = message.body.recipients as { explanation: { sentence: string } }[];
  assert.notEqual(recipient?.explanation.sentence, '', 'it says why it waits');
});

test('a worker answers probes and metrics, and says where to send everything else', async () => {
  const worker = await startTestService({ databaseUrl: url, roles: ['worker'] });
  for (const probe of ['/healthz', '/readyz'])
    assert.equal((await sendRequest(`${worker.url}${probe}`)).status, 200, probe);
  const metrics = await sendRequest(`${worker.url}/metrics`, { headers: metricsHeaders });
  assert.match(metrics.text, /^signalpost_process_info\{.*roles="worker"\} 1$/m);
  for (const [method, address] of [
    ['POST', `/ete/v1/email/${shop.id}/t-0001`],
    ['POST', '/token'],
    ['GET', '/manage/v1/me'],
    ['GET', '/console'],
    ['GET', '/sign-in'],
    ['GET', '/inbox'],
  ] as const) {
    const answer = await sendRequest(`${worker.url}${address}`, { method });
    assert.equal(answer.status, 421, address);
    assert.match(String(answer.body.message), /Send requests to a node with the role http\.$/);
  }
});

test('a node with both roles accepts, delivers and shows', async () => {
  const both = await startTestService({ databaseUrl: url });
  const own = new SendClient(both, await getToken(both, shop));
  const answer = await own.send();
  assert.equal(answer.status, 200, answer.text);
  const manager = await signInToManagement(both, shop.owner.email);
  await waitFor('the delivery', async () => {
    const message = await manager.get(`${path}/messages/${answer.body.messageId}`);
    return message.body.state === 'delivered';
  });
});
