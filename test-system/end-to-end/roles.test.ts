import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ChangeListener } from '../../src/base/database/change-listener.ts';
import { type NodeRole, nodeRoles } from '../../src/base/threads/node-role.ts';
import { createLog } from '../../src/base/values/log.ts';
import { dueTopic } from '../../src/sending/queue/announce-due.ts';
import { addKey } from '../../test/support/api-key.ts';
import { openManagedShop, signInToManagement } from '../../test/support/management-client.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { metricsHeaders } from '../../test/support/service-tokens.ts';
import { getToken } from '../../test/support/shop.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { submissionEnvironment, templateMail } from '../../test/support/submission-shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService, type TestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url } = await createTestDatabase();
const accepting = await startTestService({ databaseUrl: url, worker: false });
const showing = await startTestService({ databaseUrl: url, worker: false });
const { shop, path, owner } = await openManagedShop(database, accepting);
const viewer = await signInToManagement(showing, shop.owner.email);
const key = await addKey(database, shop.id, { scopes: ['messages:send'] });
const token = await getToken(accepting, shop);
const client = new SendClient(accepting, token);

async function send(): Promise<string> {
  const response = await client.send();
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}

const stateOf = async (id: string) => (await viewer.get(`${path}/messages/${id}`)).body.state;

async function delivered(): Promise<number> {
  const response = await viewer.get(`${path}/reports?from=2020-01-01&until=2040-01-01`);
  const [row] = response.body.rows as { counts: { delivered: number } }[];
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

test('a worker serves probes and metrics, and says where to send everything else', async () => {
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
    const response = await sendRequest(`${worker.url}${address}`, { method });
    assert.equal(response.status, 421, address);
    assert.match(
      String(response.body.message),
      /^This node \(--role worker\) .* a node with the role http or management\.$/,
    );
  }
});

/** All ways to give the roles to one node, or to two. */
const splits = Array.from({ length: 2 ** nodeRoles.length }, (_, chosen) => {
  const has = (role: NodeRole): boolean => (chosen & (1 << nodeRoles.indexOf(role))) !== 0;
  return [nodeRoles.filter(has), nodeRoles.filter((role) => !has(role))] as const;
}).filter(([first]) => first.includes('http'));

for (const nodes of splits) {
  const names = nodes.filter((roles) => roles.length > 0).map((roles) => roles.join(', '));
  test(`messages over HTTP and SMTP are accepted, delivered and shown by ${names.join(' and ')}`, async () => {
    const { environment } = await submissionEnvironment();
    const services = await Promise.all(
      nodes.map(
        async (roles) =>
          [roles, roles.length > 0 && (await startRoles(roles, environment))] as const,
      ),
    );
    const nodeOf = (role: NodeRole): TestService => {
      const service = services.find(([roles]) => roles.includes(role))?.[1];
      assert.ok(service);
      return service;
    };
    for (const [roles, service] of services) if (service) await assertServes(service, roles);
    const accepted = await new SendClient(nodeOf('http'), token).send();
    assert.equal(accepted.status, 200, accepted.text);
    const { tlsPort = 0 } = nodeOf('smtp').app.submissionPorts();
    const smtp = await SmtpClient.open({ port: tlsPort, tls: true });
    await smtp.greet();
    assert.match(await smtp.login(shop.id, key), /^235 /);
    assert.match(await smtp.submit([`${names.length}@people.test`], templateMail()), /^250 /);
    await smtp.end();
    const manager = await signInToManagement(nodeOf('management'), shop.owner.email);
    await waitFor('both deliveries', async () => {
      const list = await manager.get(`${path}/messages?state=queued`);
      return list.status === 200 && (list.body.items as unknown[]).length === 0;
    });
    const shown = await manager.get(`${path}/messages/${accepted.body.messageId}`);
    assert.equal(shown.body.state, 'delivered');
    const settings = await manager.get('/installation/settings');
    assert.notEqual(settings.body.smtpSubmission, null, 'the console shows where to submit');
    for (const [, service] of services) if (service) await service.stop();
  });
}

function startRoles(
  roles: readonly NodeRole[],
  environment: Readonly<Record<string, string>>,
): Promise<TestService> {
  return startTestService({
    databaseUrl: url,
    roles,
    environment: { ...environment, BOUNCE_PORT: '0', BOUNCE_HOST: '127.0.0.1' },
  });
}

/** Each role opens its own routes and ports, and no others. */
async function assertServes(
  { url: address, app }: TestService,
  roles: readonly NodeRole[],
): Promise<void> {
  const statusOf = async (method: string, route: string) =>
    (await sendRequest(`${address}${route}`, { method })).status;
  const has = (role: NodeRole) => roles.includes(role);
  assert.equal(await statusOf('GET', '/readyz'), 200);
  assert.equal(await statusOf('POST', `/ete/v1/email/${shop.id}/t-0001`), has('http') ? 401 : 421);
  assert.equal(await statusOf('GET', '/manage/v1/me'), has('management') ? 401 : 421);
  assert.equal(await statusOf('GET', '/console'), has('management') ? 200 : 421);
  for (const route of ['/', '/openapi.json', '/docs', '/inbox'])
    assert.equal((await statusOf('GET', route)) === 421, !has('management'), route);
  assert.equal((await statusOf('GET', '/sign-in')) === 421, !has('http') && !has('management'));
  assert.equal(app.submissionPorts().tlsPort !== undefined, has('smtp'));
  assert.equal(app.bouncePort() !== undefined, has('smtp'));
}
