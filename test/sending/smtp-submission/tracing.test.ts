import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OtlpCollector, type ReceivedSpan } from '../../support/otlp-collector.ts';
import { openSubmissionShop, templateMail } from '../../support/submission-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const collector = await OtlpCollector.open();
const world = await openSubmissionShop({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });

function waitForSpan(
  what: string,
  matches: (span: ReceivedSpan) => boolean,
): Promise<ReceivedSpan> {
  return waitFor(what, () => collector.spans.find(matches) ?? false);
}

const about =
  (name: string, messageId: string) =>
  (span: ReceivedSpan): boolean =>
    span.name === name && span.attributes['messaging.message.id'] === messageId;

const complete =
  'From: Demo Shop <orders@shop.test>\r\nSubject: Xq7Marker subject\r\n\r\nXq7Marker body\r\n';

for (const [kind, templateId, source] of [
  ['of a template', 't-0001', templateMail({ 'Order Number': 'Xq7Marker value' })],
  ['as it came', '.raw', complete],
] as const)
  test(`a message ${kind} is traced from DATA to its delivery, without personal data`, async () => {
    const client = await world.login();
    const reply = await client.submit(['xq7marker@people.test', 'b@people.test'], source);
    const id = reply.slice(-36);
    const accept = await waitForSpan('the acceptance', about('accept', id));
    assert.equal(accept.attributes['signalpost.template.id'], templateId);
    assert.equal(accept.attributes['signalpost.account.id'], '46100');
    const received = await waitForSpan('DATA', ({ spanId }) => spanId === accept.parentSpanId);
    assert.equal(received.name, 'SMTP DATA');
    assert.equal(received.kind, 'SPAN_KIND_SERVER');
    assert.equal(received.parentSpanId, '');
    assert.deepEqual(received.attributes, {
      'network.protocol.name': 'smtp',
      'signalpost.smtp.recipients': 2,
      'signalpost.smtp.reply_code': 250,
    });
    const deliver = await waitForSpan('the attempt', about('deliver', id));
    assert.equal(deliver.links[0]?.spanId, accept.spanId);
    assert.doesNotMatch(collector.text, /Xq7Marker/i);
  });

test('a refused message is no failure of the service', async () => {
  const client = await world.login();
  const source = templateMail({}, { 'X-Signalpost-Template': 'Xq7Marker-template' });
  assert.match(await client.submit(['a@people.test'], source), /^554 /);
  const refused = await waitForSpan(
    'DATA',
    ({ attributes }) => attributes['signalpost.smtp.reply_code'] === 554,
  );
  assert.equal(refused.attributes['error.type'], 'INVALID_ID');
  assert.notEqual(refused.status, 'STATUS_CODE_ERROR');
  assert.doesNotMatch(collector.text, /Xq7Marker/i);
});
