import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInbox } from '../support/inbox-client.ts';
import { signInToManagement } from '../support/management-client.ts';
import { bodyWith, SendClient } from '../support/send-client.ts';
import { sendRequest } from '../support/send-request.ts';
import { getToken, openShop } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const shop = await openShop(database);
const service = await startTestService({ databaseUrl });
const token = await getToken(service, shop);
const manager = await signInToManagement(service, shop.owner.email);
const client = new SendClient(service, token);
const sender = `/accounts/${shop.id}/senders/new@shop.test`;

test('a sender verified by an emailed link can send', async () => {
  const body = bodyWith({ envelope: { fromAddress: 'new@shop.test' } });
  assert.equal((await client.send({ body })).status, 400);
  const answer = await manager.post(`${sender}/link`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.verified, false);
  const [mail] = await readInbox(service.url, '?to=new@shop.test&wait=60');
  const link = /href="(http[^"]+\/verify-sender\/[^"]+)"/.exec(mail?.html ?? '')?.[1] ?? '';
  assert.match(mail?.text ?? '', /\/verify-sender\//);
  assert.match(mail?.html ?? '', /expires in 24 hours/);
  for (const named of ['new@shop.test', 'Shop 46100', shop.owner.email])
    assert.ok(mail?.text?.includes(named), `the mail names ${named}`);
  assert.equal((await sendRequest(link)).status, 200);
  assert.equal((await manager.get(sender)).body.verified, false);
  assert.equal((await sendRequest(link, { method: 'POST' })).status, 200);
  assert.equal((await manager.get(sender)).body.verified, true);
  await waitFor('mail to leave', async () => (await client.send({ body })).status === 200);
  const again = await manager.post(`${sender}/link`);
  assert.equal(again.status, 409);
});

test('the link isn’t stored anywhere once its mail was sent', async () => {
  const { rows } = await waitFor('the message to be final', async () => {
    const found = await database.pool.query<{ content: unknown; state: string }>(
      "select content, state from message where template_id = 'sender-confirmation-en'",
    );
    return found.rows[0]?.state === 'delivered' && found;
  });
  assert.equal(rows.length, 1);
  assert.doesNotMatch(JSON.stringify(rows), /verify-sender/);
});
