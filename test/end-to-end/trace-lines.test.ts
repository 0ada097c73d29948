import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTracing } from '../../src/base/telemetry/open-tracing.ts';
import { createHttp } from '../../src/host/http/create-http.ts';
import { readConfig } from '../../src/operating/config/config.ts';
import { traceAttempts } from '../../src/sending/delivery/trace-attempt.ts';
import { DeliveryWorld } from '../support/delivery-world.ts';
import { logIntoLines } from '../support/log-into-lines.ts';
import { OtlpCollector } from '../support/otlp-collector.ts';
import { testRoute } from '../support/test-route.ts';
import { waitFor } from '../support/wait-for.ts';

const collector = await OtlpCollector.open();
const { tracing: settings } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });

test('each log line of a traced request has the IDs of its span', async () => {
  const { log, lines } = logIntoLines('info');
  const tracing = await openTracing(settings, log);
  const http = createHttp({
    log,
    trustProxy: [],
    routes: [testRoute('GET', '/manage/v1/*'), testRoute('GET', '/console/*')],
    tracing,
  });
  http.get('/manage/v1/:accountId', (request) => {
    request.log.info('first');
    request.log.child({ part: 'inner' }).info('second');
    throw new Error('broken');
  });
  http.get('/console/:page', (request) => {
    request.log.info('not traced');
    return 'fine';
  });
  await http.inject('/manage/v1/46100');
  await http.inject('/console/x');
  await http.close();
  await tracing?.close();
  const [span, ...others] = collector.spans;
  assert.equal(span?.name, 'GET /manage/v1/{account_id}');
  assert.equal(span?.status, 'STATUS_CODE_ERROR');
  assert.equal(span?.attributes['error.type'], '500');
  assert.deepEqual(others, []);
  assert.deepEqual(
    lines.map(({ msg, trace_id, span_id }) => [msg, trace_id, span_id]),
    [
      ['first', span?.traceId, span?.spanId],
      ['second', span?.traceId, span?.spanId],
      ['request failed', span?.traceId, span?.spanId],
      ['not traced', undefined, undefined],
    ],
  );
});

test('log lines of a traced attempt have the IDs of its span', async () => {
  const { log, lines } = logIntoLines('info');
  const world = await DeliveryWorld.create();
  const tracing = await openTracing(settings, log);
  const id = await world.accept();
  const untraced = await world.accept();
  await world.database.pool.query(
    `update message set content = (content::jsonb || '{"trace":
       {"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}')::json
     where id = $1`,
    [id],
  );
  const attempt = traceAttempts(tracing, () => Promise.reject(new Error('broken')));
  const worker = world.worker(attempt, {}, undefined, log);
  worker.start();
  await world.waitForState(id, 'deferred');
  await world.waitForState(untraced, 'deferred');
  await world.close();
  await tracing?.close();
  const span = await waitFor('the attempt', () =>
    collector.spans.find(({ attributes }) => attributes['messaging.message.id'] === id),
  );
  assert.equal(span.attributes['error.type'], 'internal');
  const lineOf = (messageId: string) => lines.find((line) => line.messageId === messageId);
  assert.equal(lineOf(id)?.trace_id, span.traceId);
  assert.equal(lineOf(id)?.span_id, span.spanId);
  assert.ok(lineOf(untraced));
  assert.equal(lineOf(untraced)?.trace_id, undefined);
});
