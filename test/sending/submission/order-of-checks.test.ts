import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goodBody, SendClient, type SendOptions } from '../../support/send-client.ts';
import {
  addSender,
  getToken,
  openShop,
  publishShopTemplate,
  saveShop,
} from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const shop = await openShop(database, { suspended: true, addOns: [] });
await database.pool.query(
  `insert into suppression (account_id, address, reason) values ('46100', 'gone@example.test', 'hard_bounce')`,
);
const service = await startTestService({ databaseUrl: url, worker: false });
const token = await getToken(service, shop);
const client = new SendClient(service, token);

/** A request that breaks every rule; the test fixes them one by one. */
const wrong = {
  token: 'forged',
  account: '%zz',
  template: '%zz',
  body: '{"envelope":',
  headers: { 'idempotency-key': 'ü', 'content-type': 'text/plain' },
};

async function nameOf(options: SendOptions): Promise<string> {
  const response = await client.send(options);
  return response.status === 200 ? 'OK' : String(response.body.errorName);
}

const json = { 'content-type': 'application/json' };

test('7: the first failing check determines the response, whatever else is wrong', async () => {
  let now: SendOptions = wrong;
  assert.equal(await nameOf(now), 'UNAUTHORIZED');
  now = { ...now, token };
  assert.equal(await nameOf(now), 'INVALID_ID', 'the account second');
  now = { ...now, account: '46100' };
  assert.equal(await nameOf(now), 'ACCOUNT_SUSPENDED', 'the suspension third');
  await saveShop(database, { addOns: [] });
  await waitFor(
    'the end of the suspension',
    async () => (await nameOf(now)) !== 'ACCOUNT_SUSPENDED',
  );
  assert.equal(await nameOf(now), 'VALIDATION_FAILED', 'the idempotency key fourth');
  now = { ...now, headers: { 'content-type': 'text/plain' } };
  assert.equal(await nameOf(now), 'INVALID_ID', 'the template fifth');
  now = { ...now, template: 't-0001' };
  assert.equal(await nameOf(now), 'VALIDATION_FAILED', 'the body sixth: content type');
  now = { ...now, headers: json };
  assert.equal(await nameOf(now), 'VALIDATION_FAILED', 'the body sixth: JSON');
  const body = goodBody();
  body.envelope = { toAddress: 'gone@example.test', fromAddress: 'late@shop.test' };
  body.content = { personalizationDataMap: {} };
  body.metadata = { transactional: true };
  now = { ...now, body };
  assert.equal(await nameOf(now), 'VALIDATION_FAILED', 'the body sixth: add-on');
  body.metadata = {};
  assert.equal(await nameOf(now), 'SENDER_NOT_ALLOWED', 'the sender seventh');
  await addSender(database, shop.id, 'late@shop.test');
  await waitFor('the sender', async () => (await nameOf(now)) !== 'SENDER_NOT_ALLOWED');
  assert.equal(await nameOf(now), 'PERSONALIZATION_FAILURE', 'the personalization eighth');
  body.content = { personalizationDataMap: { 'Order Number': 'A-1' } };
  assert.equal(await nameOf(now), 'RECIPIENT_SUPPRESSED', 'the suppression ninth');
  body.envelope = { toAddress: 'here@example.test', fromAddress: 'late@shop.test' };
  assert.equal(await nameOf(now), 'OK', 'the commit tenth');
});

test('7: an oversized body is rejected after the checks of token, account and template', async () => {
  const body = Buffer.alloc(300 * 1024, 0x20);
  assert.equal(await nameOf({ body, token: 'forged' }), 'UNAUTHORIZED');
  assert.equal(await nameOf({ body, account: 'unknown' }), 'INVALID_ID');
  assert.equal(await nameOf({ body, template: 'unknown' }), 'INVALID_ID');
  assert.equal(await nameOf({ body }), 'VALIDATION_FAILED');
});

test('an idempotency key in use takes precedence over all later checks', async () => {
  const key = { 'idempotency-key': 'order-1' };
  const first = await client.send({ headers: key });
  assert.equal(first.status, 200);
  assert.equal(await nameOf({ headers: key, body: '{}' }), 'IDEMPOTENCY_MISMATCH');
  assert.equal(await nameOf({ headers: key, template: 't-9999' }), 'IDEMPOTENCY_MISMATCH');
  assert.equal(
    await nameOf({ headers: key, body: Buffer.alloc(300 * 1024) }),
    'IDEMPOTENCY_MISMATCH',
  );
  await publishShopTemplate(database, shop, {
    id: 't-0001',
    sender: 'orders@shop.test',
    source: { subject: '{{New Field}}' },
  });
  await waitFor('the new version', async () => (await nameOf({})) === 'PERSONALIZATION_FAILURE');
  const again = await client.send({ headers: key });
  assert.equal(again.text, first.text, 'a replay needs no check but the key');
});
