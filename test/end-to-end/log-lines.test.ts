import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordAuditEvent } from '../../src/accounts/audit/audit-store.ts';
import { newId } from '../../src/base/values/ids.ts';
import { OtlpCollector } from '../support/otlp-collector.ts';
import { bodyWith, SendClient } from '../support/send-client.ts';
import { getToken, openShop } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, url: databaseUrl } = await createTestDatabase();
const shop = await openShop(database);

type Line = Record<string, unknown>;

/** Starts a node whose log is kept. */
async function startNode(environment: Readonly<Record<string, string>>) {
  const lines: Line[] = [];
  const logTo = (line: string) => void lines.push(JSON.parse(line) as Line);
  return { lines, service: await startTestService({ databaseUrl, environment, logTo }) };
}

test('lines of a traced request and of its message have the trace, and no address, path or query', async () => {
  const collector = await OtlpCollector.open();
  const { lines, service } = await startNode({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    LOG_LEVEL: 'info',
    LOG_ACCESS: '1',
    LOG_AUDIT: '1',
    LOG_MESSAGES: '1',
  });
  const client = new SendClient(service, await getToken(service, shop));
  const traceId = '33333333333333333333333333333333';
  const response = await client.send({
    headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    body: bodyWith({ envelope: { toAddress: 'LogMarker@people.test' } }),
  });
  const { messageId } = response.body;
  await fetch(`${service.url}/c/SECRET-OF-PATH?to=SECRET-OF-QUERY`);
  const isGrant = ({ log, kind }: Line): boolean => log === 'audit' && kind === 'password_grant';
  const isDelivered = ({ log, kind, messageId: id }: Line): boolean =>
    log === 'message' && kind === 'delivered' && id === messageId;
  // Lines of each kind come in order, but not lines of different kinds.
  await waitFor(
    'a line of each kind',
    () =>
      lines.some(isDelivered) &&
      lines.some(({ route }) => route === '/c/:token') &&
      lines.some(isGrant),
  );

  const requestId = response.headers.get('x-request-id');
  const access = lines.find((line) => line.requestId === requestId);
  const { time: _, level: __, durationMs, bytes, span_id, ...others } = access ?? {};
  assert.deepEqual(others, {
    log: 'access',
    requestId,
    method: 'POST',
    route: '/ete/v1/email/:accountId/:templateId',
    accountId: shop.id,
    status: 200,
    client: '127.0.0.1',
    trace_id: traceId,
    msg: 'request',
  });
  assert.equal(bytes, Buffer.byteLength(response.text));
  assert.ok(Number(durationMs) > 0);

  const granted = lines.find(isGrant);
  assert.deepEqual(
    [granted?.outcome, granted?.personId, granted?.accountId, granted?.client, granted?.msg],
    ['success', shop.owner.id, shop.id, '127.0.0.1', 'audit event'],
  );
  const events = lines.filter(({ log, messageId: id }) => log === 'message' && id === messageId);
  assert.deepEqual(
    events.map(({ kind, domain, replyCode, trace_id }) => [kind, domain, replyCode, trace_id]),
    [
      ['accepted', 'people.test', undefined, traceId],
      ['delivered', 'people.test', 250, traceId],
    ],
  );
  assert.doesNotMatch(JSON.stringify(lines), /LogMarker|SECRET-OF/i);
  await service.stop();
  assert.ok(collector.spans.some((span) => span.spanId === span_id));
});

test('addresses are in the lines of messages only if the setting says so, and two nodes write each line once', async () => {
  const nodes = [
    await startNode({ LOG_MESSAGES: 'addresses' }),
    await startNode({ LOG_MESSAGES: 'addresses' }),
  ] as const;
  const [{ service }] = nodes;
  const client = new SendClient(service, await getToken(service, shop));
  const responses = await Promise.all(
    [1, 2, 3, 4].map((n) =>
      client.send({ body: bodyWith({ envelope: { toAddress: `known${n}@people.test` } }) }),
    ),
  );
  const ids = responses.map(({ body }) => body.messageId);
  const linesOfMessages = (): Line[] =>
    nodes.flatMap(({ lines }) => lines).filter(({ messageId }) => ids.includes(messageId));
  await waitFor('all events', () => linesOfMessages().length >= 8);
  for (const node of nodes) await node.service.stop();
  assert.equal(linesOfMessages().length, 8);
  assert.deepEqual(
    [...new Set(linesOfMessages().map(({ address }) => address))].sort(),
    [1, 2, 3, 4].map((n) => `known${n}@people.test`),
  );
});

test('an audit event has a line once it is committed, and none if it is rolled back', async () => {
  const { lines, service } = await startNode({ LOG_AUDIT: '1' });
  const recordIn = (kysely: typeof database.kysely, kind: string) => {
    const origin = { remoteAddress: '127.0.0.1', requestId: newId() };
    return recordAuditEvent(kysely, { kind, origin });
  };
  const kinds = () => lines.map(({ kind }) => kind);
  await assert.rejects(
    database.kysely.transaction().execute(async (transaction) => {
      await recordIn(transaction, 'rolled_back');
      throw new Error('undone');
    }),
    /undone/,
  );
  await database.kysely.transaction().execute(async (transaction) => {
    await recordIn(transaction, 'in_transaction');
    await recordIn(database.kysely, 'before_its_commit');
    await waitFor('a round', () => kinds().includes('before_its_commit'));
    assert.ok(!kinds().includes('in_transaction'));
  });
  await recordIn(database.kysely, 'last');
  await service.stop();
  assert.deepEqual(kinds(), ['before_its_commit', 'in_transaction', 'last']);
});
