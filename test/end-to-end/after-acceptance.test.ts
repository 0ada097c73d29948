import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeSender } from '../../src/accounts/sender/sender-store.ts';
import type { TemplateId } from '../../src/base/values/ids.ts';
import { removeTemplate } from '../../src/content/template/template-store.ts';
import { startSink } from '../support/mail-sink.ts';
import { SendClient } from '../support/send-client.ts';
import { getToken, openShop, publishShopTemplate, saveShop } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const shop = await openShop(database);
const sink = await startSink();
const environment = { SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` };
const accepting = await startTestService({ databaseUrl, environment, worker: false });
const client = new SendClient(accepting, await getToken(accepting, shop));

async function accept(): Promise<string> {
  return client.accept();
}

test('messages are sent as accepted, whatever happens to template, sender and account afterwards', async () => {
  const id = await accept();
  await publishShopTemplate(database, shop, {
    id: 't-0001',
    sender: 'orders@shop.test',
    source: { subject: 'Another subject', html: '<p>Other</p>' },
  });
  await database.kysely.transaction().execute(async (transaction) => {
    await removeTemplate(transaction, shop.id, 't-0001' as TemplateId);
    await removeSender(transaction, shop.id, 'orders@shop.test' as never);
  });
  await waitFor('the removal to take effect', async () => (await client.send()).status === 400);
  await saveShop(database, { suspended: true });

  const working = await startTestService({ databaseUrl, environment, roles: ['worker'] });
  const held = await client.status(id);
  assert.equal(held.body.state, 'queued');
  assert.match(JSON.stringify(held.body), /the account is suspended/);
  await saveShop(database, { suspended: false });
  await waitFor('the message', async () => (await client.status(id)).body.state === 'delivered');
  await working.stop();

  // Others may have been accepted before the removal took effect.
  const mails = sink.mails.filter(({ source }) => source.includes(`Message-ID: <${id}@`));
  assert.equal(mails.length, 1);
  const [{ source = '', from = '' } = {}] = mails;
  assert.equal(from, 'orders@shop.test');
  assert.match(source, /^Subject: Your order A-1001\r$/m);
  assert.match(source, /^From: Demo Shop <orders@shop\.test>\r$/m);
});
