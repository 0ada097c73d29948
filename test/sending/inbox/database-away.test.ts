import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTransport } from 'nodemailer';
import { readInbox } from '../../support/inbox-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { inboxHeaders } from '../../support/service-tokens.ts';
import { openGate } from '../../support/tcp-gate.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { url: databaseUrl } = await createTestDatabase();
const gate = await openGate(databaseUrl);
const service = await startTestService({ databaseUrl: gate.url });
const transport = createTransport({ host: '127.0.0.1', port: service.app.inboxPort() });

test('while the database is down, programs and people get a 503 and mail gets a 451; afterwards everything works', async () => {
  gate.close();
  for (const query of ['', '?wait=30&to=a@b.test']) {
    const { status, headers, body } = await sendRequest(
      `${service.url}/inbox/api/messages${query}`,
      {
        headers: inboxHeaders,
      },
    );
    assert.equal(status, 503, query);
    assert.ok(headers.get('retry-after'));
    assert.match(String(body.message), /temporarily unavailable/);
  }
  const list = await sendRequest(`${service.url}/manage/v1/inbox/messages`, {
    headers: inboxHeaders,
  });
  assert.equal(list.status, 503);
  assert.equal(list.body.title, 'Service temporarily unavailable');
  const mail = { from: 'shop@shop.test', to: 'a@b.test', subject: 'again', text: 'x' };
  await assert.rejects(transport.sendMail(mail), { responseCode: 451 });
  gate.open();
  await transport.sendMail(mail);
  const [message] = await readInbox(service.url, '?to=a@b.test&wait=60');
  assert.equal(message?.subject, 'again');
});
