import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { permissionsOf } from '../../src/accounts/access/permission.ts';
import type { MessageId } from '../../src/base/values/ids.ts';
import { addEndpoint } from '../../src/outcomes/webhook/endpoint-store.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { ReturnPaths } from '../../src/sending/delivery/return-path.ts';
import { addKey } from '../../test/support/api-key.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { OtlpCollector, type ReceivedSpan } from '../../test/support/otlp-collector.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const collector = await OtlpCollector.open();
const settings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
  OTEL_EXPORTER_OTLP_HEADERS: 'api-key=s3cret%20key',
  OTEL_SERVICE_NAME: 'mail',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  WEBHOOK_NETWORKS: '127.0.0.0/8',
};
const shop = await FeedbackShop.open({
  ...settings,
  BOUNCE_PORT: '0',
  BOUNCE_HOST: '127.0.0.1',
});
await shop.publish('note', '<p>Note {{Order}}</p>', { Order: { default: '' } });

const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const sampled = { traceparent: `00-${caller.traceId}-${caller.spanId}-01` };

/** Waits for the spans that match. */
async function waitForSpans(
  what: string,
  matches: (span: ReceivedSpan) => boolean,
  count = 1,
): Promise<[ReceivedSpan, ...ReceivedSpan[]]> {
  return waitFor(what, () => {
    const found = collector.spans.filter(matches);
    return found.length >= count && (found as [ReceivedSpan, ...ReceivedSpan[]]);
  });
}

const about =
  (name: string, messageId: unknown) =>
  (span: ReceivedSpan): boolean =>
    span.name === name && span.attributes['messaging.message.id'] === messageId;

async function send(
  headers: Record<string, string>,
  changes: Parameters<typeof bodyWith>[0] = {},
  client: SendClient = shop.client,
): Promise<string> {
  const response = await client.send({
    template: 'note',
    headers,
    body: bodyWith({
      envelope: { toAddress: `r${Math.random().toString(36).slice(2)}@people.test` },
      actions: { trackOpens: false, trackClicks: false },
      ...changes,
    }),
  });
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}

async function storedTrace(messageId: string): Promise<unknown> {
  const { rows } = await shop.database.pool.query(
    "select content -> 'trace' as trace from message where id = $1",
    [messageId],
  );
  return rows[0]?.trace;
}

/** An endpoint that keeps the headers of its requests. */
async function openEndpoint(kinds: Parameters<typeof addEndpoint>[3]['kinds']) {
  const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({ headers: request.headers, body });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  await addEndpoint(shop.database.kysely, new SecretBox(testKey), shop.shop.id, {
    url: `http://127.0.0.1:${port}/hook/SECRET-OF-PATH?key=SECRET-OF-QUERY`,
    kinds,
    permissions: permissionsOf.owner,
  });
  return requests;
}

test('a message is traced from its request to the reply after the dot, its bounce and its webhook', async () => {
  const requests = await openEndpoint(['bounced']);
  const id = await send({ ...sampled, tracestate: 'vendor=a1,other=b2' });

  const [request] = await waitForSpans(
    'the request',
    (span) => span.parentSpanId === caller.spanId && span.traceId === caller.traceId,
  );
  assert.equal(request.name, 'POST /ete/v1/email/{account_id}/{template_id}');
  assert.equal(request.kind, 'SPAN_KIND_SERVER');
  assert.equal(request.traceState, 'vendor=a1,other=b2');
  assert.deepEqual(request.attributes, {
    'http.request.method': 'POST',
    'http.route': '/ete/v1/email/{account_id}/{template_id}',
    'http.response.status_code': 200,
    'url.scheme': 'http',
    'network.protocol.version': '1.1',
  });
  assert.equal(request.resource['service.name'], 'mail');
  assert.equal(request.resource['deployment.environment.name'], 'test');
  assert.match(String(request.resource['service.instance.id']), /^[0-9a-f-]{36}$/);

  const [accept] = await waitForSpans('the acceptance', about('accept', id));
  assert.equal(accept.traceId, caller.traceId);
  assert.equal(accept.parentSpanId, request.spanId);
  assert.equal(accept.kind, 'SPAN_KIND_PRODUCER');
  assert.deepEqual(accept.attributes, {
    'messaging.system': 'signalpost',
    'messaging.operation.name': 'accept',
    'messaging.operation.type': 'create',
    'messaging.message.id': id,
    'signalpost.account.id': shop.shop.id,
    'signalpost.template.id': 'note',
  });
  assert.deepEqual(await storedTrace(id), {
    traceparent: `00-${caller.traceId}-${accept.spanId}-01`,
    tracestate: 'vendor=a1,other=b2',
  });
  const link = {
    traceId: caller.traceId,
    spanId: accept.spanId,
    traceState: 'vendor=a1,other=b2',
  };

  const [deliver] = await waitForSpans('the attempt', about('deliver', id));
  assert.notEqual(deliver.traceId, caller.traceId);
  assert.equal(deliver.parentSpanId, '');
  assert.deepEqual(deliver.links, [link]);
  assert.equal(deliver.kind, 'SPAN_KIND_CONSUMER');
  assert.deepEqual(deliver.attributes, {
    'messaging.system': 'signalpost',
    'messaging.operation.name': 'deliver',
    'messaging.operation.type': 'process',
    'messaging.message.id': id,
    'signalpost.account.id': shop.shop.id,
    'signalpost.template.id': 'note',
    'signalpost.attempt': 1,
    'signalpost.destination.domains': ['people.test'],
    'signalpost.outcomes': ['delivered'],
    'signalpost.smtp.reply_codes': [250],
  });
  assert.ok(BigInt(deliver.endTimeUnixNano) > BigInt(deliver.startTimeUnixNano));
  const [render] = await waitForSpans(
    'the rendering',
    (span) => span.name === 'render' && span.parentSpanId === deliver.spanId,
  );
  assert.equal(render.traceId, deliver.traceId);

  await waitFor('the delivery', async () => (await shop.state(id)) === 'delivered');
  const path = { accountId: shop.shop.id, messageId: id as MessageId, recipient: 0 };
  const transport = createTransport({ host: '127.0.0.1', port: shop.service.app.bouncePort() });
  await transport.sendMail({
    envelope: { from: '', to: new ReturnPaths(testKey).make(path, 'bounces.shop.test') },
    raw: await readFile(
      join(import.meta.dirname, '../../test/outcomes/bounce/mail-reports/postfix-user-unknown.eml'),
    ),
  });
  const [report] = await waitForSpans('the bounce', about('report', id));
  assert.deepEqual(report.links, [link]);
  assert.equal(report.attributes['signalpost.event.kind'], 'bounced');
  assert.equal(report.attributes['signalpost.report.by'], 'mail');

  const [webhook] = await waitForSpans('the webhook', about('POST', id));
  assert.deepEqual(webhook.links, [link]);
  assert.equal(webhook.kind, 'SPAN_KIND_CLIENT');
  assert.equal(webhook.attributes['server.address'], '127.0.0.1');
  assert.equal(webhook.attributes['http.response.status_code'], 200);
  assert.equal(requests[0]?.headers.traceparent, `00-${webhook.traceId}-${webhook.spanId}-01`);
  assert.ok(collector.received.every(({ headers }) => headers['api-key'] === 's3cret key'));
  assert.doesNotMatch(collector.text, /SECRET-OF/);
});

test('nothing that is personal is exported, whether a message is accepted or refused', async () => {
  const marker = 'Xq7Marker';
  const values = { personalizationDataMap: { Order: `${marker}-value` } };
  const id = await send(
    {
      tracestate: 'v=1',
      'x-forwarded-for': `${marker}.test`,
      'user-agent': `${marker}-agent`,
    },
    {
      envelope: {
        toAddress: `${marker}-to@people.test`,
        ccAddressList: [`${marker}-cc@people.test`],
      },
      content: { ...values, subjectLine: `${marker}-subject`, previewText: `${marker}-preview` },
      metadata: {
        externalId: `${marker}-external`,
        tagList: [`${marker}-tag`],
        attributes: { Name: `${marker}-attribute` },
      },
    },
  );
  await waitForSpans('the attempt', about('deliver', id));
  const bounced = await send({}, { envelope: { toAddress: `bounce+${marker}@simulator.test` } });
  const [attempt] = await waitForSpans('the second attempt', about('deliver', bounced));
  assert.ok(attempt);
  const refused = await shop.client.send({
    template: `${marker}-template`,
    body: bodyWith({ envelope: { toAddress: `${marker}-refused` } }),
  });
  assert.equal(refused.status, 400);
  const unauthorized = await shop.client.send({
    account: `${marker}-account`,
    token: `${marker}-token`,
  });
  assert.equal(unauthorized.status, 401);
  await fetch(`${shop.service.url}/manage/v1/accounts/${marker}@x.test?search=${marker}-query`);
  await fetch(`${shop.service.url}/token`, {
    method: 'POST',
    body: new URLSearchParams({ username: `${marker}@x.test`, password: `${marker}-password` }),
  });
  await waitForSpans('the token request', (span) => span.name === 'POST /token');
  await waitForSpans('the management request', (span) =>
    span.name.startsWith('GET /manage/v1/accounts/{'),
  );
  assert.doesNotMatch(collector.text, new RegExp(marker, 'i'));
  assert.doesNotMatch(collector.text, /client\.address|user_agent/);
});

test('of a reply that quotes the address, only its code is exported', async () => {
  const stored = await createTestDatabase();
  const other = await openShop(stored.database);
  const sink = await startSink({ onRcpt: (address) => `550 5.1.1 <${address}> unknown` });
  const service = await startTestService({
    databaseUrl: stored.url,
    environment: { ...settings, SMTP_URL: `smtp://127.0.0.1:${sink.port}` },
  });
  const client = new SendClient(service, await getToken(service, other));
  const response = await client.send({
    body: bodyWith({ envelope: { toAddress: 'QuotedMarker@people.test' } }),
  });
  const [deliver] = await waitForSpans('the attempt', about('deliver', response.body.messageId));
  assert.deepEqual(deliver.attributes['signalpost.outcomes'], ['bounced']);
  assert.deepEqual(deliver.attributes['signalpost.smtp.reply_codes'], [550]);
  assert.equal(deliver.attributes['error.type'], 'no-mailbox');
  assert.equal(deliver.status, 'STATUS_CODE_ERROR');
  assert.doesNotMatch(collector.text, /QuotedMarker/i);
  await service.stop();
});

test('a traceparent that is malformed or occurs twice starts a new trace', async () => {
  const malformed = [
    `00-${caller.traceId}-${caller.spanId}`,
    `00-${caller.traceId.toUpperCase()}-${caller.spanId}-01`,
    `00-${'0'.repeat(32)}-${caller.spanId}-01`,
    `00-${caller.traceId}-${'0'.repeat(16)}-01`,
    `00-${caller.traceId}-${caller.spanId}-01-more`,
    `ff-${caller.traceId}-${caller.spanId}-01`,
    `${sampled.traceparent}, ${sampled.traceparent}`,
    `01-${caller.traceId}-${caller.spanId}-01-${'x'.repeat(4_000)}`,
    'x'.repeat(8_000),
  ];
  const sent: string[] = [];
  for (const traceparent of malformed) sent.push(await send({ traceparent, tracestate: 'v=lost' }));
  for (const [index, id] of sent.entries()) {
    const [accept] = await waitForSpans('the acceptance', about('accept', id));
    assert.notEqual(accept.traceId, caller.traceId, malformed[index]);
    const [request] = await waitForSpans(
      'its request',
      (span) => span.spanId === accept.parentSpanId,
    );
    assert.equal(request.parentSpanId, '');
    assert.equal(request.traceState, '');
  }
});

test('a tracestate over 512 characters is stored only as far as the limit allows', async () => {
  const members = Array.from({ length: 40 }, (_, index) => `vendor${index}=${'x'.repeat(60)}`);
  const id = await send({ ...sampled, tracestate: members.join(',') });
  const { tracestate } = (await storedTrace(id)) as { tracestate: string };
  assert.ok(tracestate.length <= 512 && tracestate.startsWith(String(members[0])), tracestate);
});

test('a request that its caller did not sample leaves no span and stores nothing', async () => {
  const other = '11111111111111111111111111111111';
  const id = await send({ traceparent: `00-${other}-${caller.spanId}-00` });
  assert.equal(await storedTrace(id), null);
  await waitFor('the delivery', async () => (await shop.state(id)) === 'delivered');
  const later = await send(sampled);
  await waitForSpans('a later attempt', about('deliver', later));
  assert.ok(collector.spans.every((span) => span.traceId !== other));
  assert.ok(collector.spans.every((span) => span.attributes['messaging.message.id'] !== id));
});

test('each message of a batch has its own span below the request, and its attempt links to it', async () => {
  const trace = '22222222222222222222222222222222';
  const messages = [1, 2, 3].map((order) => ({
    envelope: { toAddress: `reader${order}@people.test` },
    content: { personalizationDataMap: { Order: String(order) } },
    actions: { trackOpens: false, trackClicks: false },
  }));
  const response = await shop.client.send({
    template: 'note/batch',
    headers: { traceparent: `00-${trace}-${caller.spanId}-01` },
    body: { messages: [...messages, { envelope: { toAddress: 'nowhere' } }] },
  });
  assert.equal(response.status, 200, response.text);
  const results = response.body.results as { messageId?: string }[];
  const [request] = await waitForSpans(
    'the request',
    (span) => span.traceId === trace && span.kind === 'SPAN_KIND_SERVER',
  );
  assert.equal(request.name, 'POST /ete/v1/email/{account_id}/{template_id}/batch');
  assert.equal(request.attributes['messaging.batch.message_count'], 4);
  const accepts = await waitForSpans(
    'the acceptances',
    (span) => span.traceId === trace && span.name === 'accept',
    4,
  );
  assert.ok(accepts.every((span) => span.parentSpanId === request.spanId));
  const refused = accepts.filter((span) => span.attributes['error.type'] !== undefined);
  assert.deepEqual(
    refused.map((span) => [span.attributes['error.type'], span.status]),
    [['VALIDATION_FAILED', 'STATUS_CODE_UNSET']],
  );
  for (const { messageId } of results.slice(0, 3)) {
    const accept = accepts.find(about('accept', messageId));
    const [deliver] = await waitForSpans('its attempt', about('deliver', messageId));
    assert.deepEqual(
      deliver.links.map(({ traceId, spanId }) => [traceId, spanId]),
      [[trace, accept?.spanId]],
    );
  }
});

test('a message that is sent again through the management API belongs to that request', async () => {
  const id = await send(sampled);
  const [first] = await waitForSpans('the first attempt', about('deliver', id));
  const key = await addKey(shop.database, shop.shop.id);
  const response = await fetch(
    `${shop.service.url}/manage/v1/accounts/${shop.shop.id}/messages/${id}/resend`,
    { method: 'POST', headers: { authorization: `Bearer ${key}` } },
  );
  assert.equal(response.status, 201);
  const { messageId } = (await response.json()) as { messageId: string };
  const [accept] = await waitForSpans('the acceptance', about('accept', messageId));
  const [request] = await waitForSpans(
    'the request',
    (span) => span.spanId === accept.parentSpanId,
  );
  assert.match(request.name, /^POST \/manage\/v1\/accounts\/\{.*\}\/resend$/);
  const [deliver] = await waitForSpans('its attempt', about('deliver', messageId));
  assert.equal(deliver.links[0]?.spanId, accept.spanId);
  assert.notDeepEqual(deliver.links, first.links);
});

test('the trace survives the queue: a retry on another node links to the same acceptance', async () => {
  const id = await send(sampled, { envelope: { toAddress: 'defer@simulator.test' } });
  const [first] = await waitForSpans('the first attempt', about('deliver', id));
  const other = await startTestService({
    databaseUrl: shop.databaseUrl,
    environment: { ...settings, OTEL_SERVICE_NAME: 'other-node' },
    roles: ['worker'],
  });
  await shop.service.stop();
  await shop.database.pool.query('update queued_delivery set due_at = now() where message_id = $1', [
    id,
  ]);
  const [retry] = await waitForSpans(
    'the retry',
    (span) => about('deliver', id)(span) && span.resource['service.name'] === 'other-node',
  );
  assert.deepEqual(retry.links, first.links);
  assert.notEqual(retry.traceId, first.traceId);
  assert.equal(retry.attributes['signalpost.attempt'], 2);
  await other.stop();
});
