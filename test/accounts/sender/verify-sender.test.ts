import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailedLinkToken } from '../../../src/accounts/notices/mailed-links.ts';
import { readSender, saveSender } from '../../../src/accounts/sender/sender-store.ts';
import { SenderVerification } from '../../../src/accounts/sender/sender-verification.ts';
import { sendRequest } from '../../support/send-request.ts';
import { SessionWorld } from '../../support/session-world.ts';
import { saveShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService, testKey } from '../../support/test-service.ts';

const { url: databaseUrl, database, clock } = await createTestDatabase();
// A node without a worker, so that the mail stays queued.
const service = await startTestService({ databaseUrl, worker: false });
const accountId = await saveShop(database, { id: '46100' });
const asker = await new SessionWorld(database, accountId).addPerson();
const proofs = new SenderVerification({ database, clock, key: testKey, mailEnabled: true });

async function mailLink(address: string): Promise<string> {
  await saveSender(database.kysely, accountId, { address, displayNames: [], verified: false });
  assert.equal(await proofs.request(accountId, address, asker.id), 'sent');
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from system_mail where to_address = $1 order by created_at desc limit 1',
    [address],
  );
  return `${service.url}/verify-sender/${mailedLinkToken(testKey, rows[0]?.id ?? '')}`;
}

async function verified(address: string): Promise<boolean | undefined> {
  return (await readSender(database.kysely, accountId, address))?.verified;
}

test('an emailed link shows a page that changes nothing; its button verifies the sender, once', async () => {
  const link = await mailLink('one@shop.test');
  const page = await sendRequest(link);
  assert.equal(page.status, 200);
  assert.match(page.text, />Confirm</);
  for (const named of ['one@shop.test', 'Shop 46100', 'ID 46100', asker.email])
    assert.ok(page.text.includes(named), `the page names ${named}`);
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  assert.equal(await verified('one@shop.test'), false);
  const done = await sendRequest(link, { method: 'POST' });
  assert.match(done.text, /Shop 46100.*one@shop\.test/);
  assert.equal(await verified('one@shop.test'), true);
  assert.equal((await sendRequest(link)).status, 404);
  assert.equal((await sendRequest(link, { method: 'POST' })).status, 404);
  assert.equal(await proofs.request(accountId, 'one@shop.test', undefined), 'verified');
});

test('a second link replaces the first, and links expire after a day', async () => {
  const first = await mailLink('two@shop.test');
  assert.equal(await proofs.request(accountId, 'two@shop.test', undefined), 'too-soon');
  await clock.advance(60_000);
  const second = await mailLink('two@shop.test');
  assert.equal((await sendRequest(first, { method: 'POST' })).status, 404);
  await clock.advance(-25 * 3_600_000);
  const old = await mailLink('old@shop.test');
  await clock.reset();
  assert.equal((await sendRequest(old, { method: 'POST' })).status, 404);
  assert.equal(await verified('old@shop.test'), false);
  assert.equal((await sendRequest(second, { method: 'POST' })).status, 200);
});

test('tokens are stored as hashes, and forged ones are rejected', async () => {
  const link = await mailLink('three@shop.test');
  const token = link.slice(link.lastIndexOf('/') + 1);
  const { rows } = await database.pool.query<{ hash: Buffer }>('select hash from sender_proof');
  assert.ok(rows.every(({ hash }) => !hash.includes(Buffer.from(token, 'base64url'))));
  for (const text of ['x', 'A'.repeat(43), '%00', 'A'.repeat(5_000)])
    assert.ok(
      (await sendRequest(`${service.url}/verify-sender/${text}`, { method: 'POST' })).status >= 400,
    );
});

test('unknown senders get no mail, and without SYSTEM_MAIL_FROM no sender does', async () => {
  assert.equal(await proofs.request(accountId, 'nobody@shop.test', undefined), 'unknown');
  const without = new SenderVerification({ database, clock, key: testKey, mailEnabled: false });
  await saveSender(database.kysely, accountId, {
    address: 'four@shop.test',
    displayNames: [],
    verified: false,
  });
  assert.equal(await without.request(accountId, 'four@shop.test', undefined), 'not-offered');
});
