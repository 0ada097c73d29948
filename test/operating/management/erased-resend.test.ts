import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveAccount } from '../../../src/accounts/account/account-store.ts';
import { withoutTexts } from '../../../src/content/message/message-sql.ts';
import { bodyWith } from '../../support/send-client.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, owner, path, shop, client: sender } = await openSharedShop();
const attachments = [
  {
    filename: 'terms.txt',
    contentType: 'text/plain',
    content: Buffer.from('Terms').toString('base64'),
  },
];

/** Sends a message and erases its content as a retention rule does. */
async function sendAndErase(content: Record<string, unknown>): Promise<string> {
  const id = await sender.accept({ body: bodyWith({ content }) });
  await waitFor(
    'the delivery',
    async () => (await owner.get(`${path}/messages/${id}`)).body.state === 'delivered',
  );
  await database.pool.query(`update message m set content = ${withoutTexts('m')} where id = $1`, [
    id,
  ]);
  return id;
}

test('a message whose attachments were erased isn’t resent without them', async () => {
  const id = await sendAndErase({ attachments });
  const response = await owner.post(`${path}/messages/${id}/resend`);
  assert.equal(response.status, 409, response.text);
  assert.match(
    String(response.body.detail),
    /^This message can’t be resent, because its attachments and values were erased$/,
  );
  const { body } = await owner.get(`${path}/messages/${id}`);
  assert.deepEqual((body.content as { erased: unknown }).erased, ['attachments', 'values']);
  const download = await owner.get(`${path}/messages/${id}/attachments/1`);
  assert.equal(download.status, 404);
  const { rows } = await database.pool.query('select id from message where account_id = $1', [
    shop.id,
  ]);
  assert.deepEqual(rows, [{ id }]);
});

test('erasing a message twice keeps the names of what it had', async () => {
  const id = await sendAndErase({ attachments, headers: { 'X-Order': 'A-1' } });
  await database.pool.query(`update message m set content = ${withoutTexts('m')} where id = $1`, [
    id,
  ]);
  const response = await owner.post(`${path}/messages/${id}/resend`);
  assert.match(response.text, /its attachments, headers, and values were erased/);
});

test('a message is resent only while its sender is verified, and a transactional one while the account has the add-on', async () => {
  const messageId = await sender.accept({ body: bodyWith({ metadata: { transactional: true } }) });
  const resend = () => owner.post(`${path}/messages/${messageId}/resend`);
  assert.equal((await resend()).status, 201);
  const setAddOns = (...addOns: 'transactional'[]) =>
    saveAccount(database.kysely, {
      id: shop.id,
      name: 'Shop',
      addOns: new Set(addOns),
      suspended: false,
      retentionDays: 90,
    });
  await setAddOns();
  const withoutAddOn = await waitFor('the add-on to be gone', async () => {
    const response = await resend();
    return response.status === 409 && response;
  });
  assert.match(withoutAddOn.text, /doesn’t have the transactional add-on/);
  await setAddOns('transactional');
  await waitFor('the add-on', async () => (await resend()).status === 201);
  await database.pool.query('update sender set verified_at = null where account_id = $1', [
    shop.id,
  ]);
  const unverified = await resend();
  assert.equal(unverified.status, 409);
  assert.match(unverified.text, /verified/);
});
