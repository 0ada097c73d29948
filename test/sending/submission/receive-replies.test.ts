import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DirectShop } from '../../support/direct-shop.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { plainReply } from '../../support/reply-shop.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { getToken, openShop } from '../../support/shop.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const withReplies = bodyWith({
  envelope: { toAddress: 'ada@customer.test' },
  actions: { receiveReplies: true },
});

function reasonOf(response: { body: Record<string, unknown>; status: number }): string {
  assert.equal(response.status, 400);
  const [detail, ...more] = response.body.details as { field: string; reason: string }[];
  assert.equal(detail?.field, 'actions.receiveReplies');
  assert.deepEqual(more, []);
  return detail?.reason ?? '';
}

test('mail to a real server carries an address of the sending domain, and a reply to it arrives', async () => {
  const direct = await DirectShop.open(
    '127.0.0.1=mail.sender.test',
    { address: '127.0.0.2', port: 0 },
    { BOUNCE_PORT: '0', BOUNCE_HOST: '127.0.0.1' },
  );
  direct.zones.set('customer.test', { MX: [[10, 'mx.customer.test']] });
  direct.zones.set('mx.customer.test', { A: ['127.0.0.2'] });
  const id = await direct.client.accept({ body: withReplies });
  const mail = await waitFor('the mail', () => direct.mx.mails[0]);
  const replyTo = /^Reply-To: (r-[a-z2-7]{52}@bounces\.shop\.test)\r$/m.exec(mail.source)?.[1];
  assert.ok(replyTo !== undefined, mail.source);
  const client = await SmtpClient.open({ port: direct.service.app.bouncePort() ?? 0 });
  await client.greet();
  assert.match(await client.submit([replyTo], plainReply()), /^250 /);
  const { rows } = await direct.database.pool.query('select message_id from message_reply');
  assert.deepEqual(rows, [{ message_id: id }]);
  await direct.database.pool.query(`update sending_domain set state = 'broken'`);
  const { databaseUrl, environment, shop } = direct;
  const later = await startTestService({ databaseUrl, environment, worker: false });
  const sender = new SendClient(later, await getToken(later, shop));
  const refused = await sender.send({ body: withReplies });
  assert.match(reasonOf(refused), /DNS records of shop\.test/);
});

test('without what replies need, a request for them names what to do', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const shop = await openShop(database);
  const relay = { SMTP_URL: 'smtp://127.0.0.1:1' };
  const bounces = { BOUNCE_PORT: '0', BOUNCE_HOST: '127.0.0.1' };
  const cases = [
    [relay, /set BOUNCE_PORT/],
    [{ ...relay, ...bounces }, /set SMTP_HOSTNAME/],
    [{ ...relay, ...bounces, SMTP_HOSTNAME: 'mail.shop.test' }, /shop\.test as a sending domain/],
  ] as const;
  for (const [environment, expected] of cases) {
    const service = await startTestService({ databaseUrl, environment, worker: false });
    const client = new SendClient(service, await getToken(service, shop));
    assert.match(reasonOf(await client.send({ body: withReplies })), expected);
    assert.equal((await client.send()).status, 200);
    await service.stop();
  }
});

test('in the inbox mode nothing has to be set up, and each message of a batch has its own address', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const shop = await openShop(database);
  const service = await startTestService({ databaseUrl });
  const client = new SendClient(service, await getToken(service, shop));
  const messages = ['one@people.test', 'two@people.test'].map((toAddress) =>
    bodyWith({ envelope: { toAddress }, actions: { receiveReplies: true } }),
  );
  const response = await client.send({ template: 't-0001/batch', body: { messages } });
  assert.equal(response.status, 200, response.text);
  const found = new Set<string>();
  for (const to of ['one@people.test', 'two@people.test']) {
    const [mail] = await readInbox(service.url, `?to=${to}&wait=60`);
    found.add(mail?.headers['reply-to']?.[0] ?? '');
  }
  assert.equal(found.size, 2);
  for (const address of found) assert.match(address, /^r-[a-z2-7]{52}@bounces\.shop\.test$/);
});

test('a scheduled message that receives replies is sent at its time', async () => {
  const { url: databaseUrl, database, clock } = await createTestDatabase();
  const shop = await openShop(database);
  const service = await startTestService({ databaseUrl, clock });
  const client = new SendClient(service, await getToken(service, shop));
  const hour = 3_600_000;
  const to = 'later@customer.test';
  await client.accept({
    body: bodyWith({
      envelope: { toAddress: to },
      actions: { receiveReplies: true, sendAt: new Date(clock.now() + hour).toISOString() },
    }),
  });
  await clock.advance(hour + 60_000);
  const [mail] = await readInbox(service.url, `?to=${encodeURIComponent(to)}&wait=30`);
  assert.match(String(mail?.headers['reply-to']), /\br-[a-z2-7]{52}@/);
});
