import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OffsetClock } from '../../src/foundation/clock.ts';
import { SenderProofs } from '../../src/sender/sender-proofs.ts';
import { readSender, saveSender } from '../../src/sender/sender-store.ts';
import { ask } from '../support/ask.ts';
import { saveShop } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const service = await startTestService({ databaseUrl });
const accountId = await saveShop(database, { id: '46100' });
const clock = new OffsetClock();
const links: string[] = [];
const proofs = new SenderProofs({
  database,
  clock,
  publicUrl: () => service.url,
  send: async ({ link }) => void links.push(link),
});

async function mailLink(address: string): Promise<string> {
  await saveSender(database.kysely, accountId, { address, displayNames: [], verified: false });
  assert.equal(await proofs.request(accountId, address), 'sent');
  return links.at(-1) ?? '';
}

async function verified(address: string): Promise<boolean | undefined> {
  return (await readSender(database.kysely, accountId, address))?.verified;
}

test('a mailed link shows a page that changes nothing; its button verifies the sender, once', async () => {
  const link = await mailLink('one@shop.test');
  const page = await ask(link);
  assert.equal(page.status, 200);
  assert.match(page.text, /Allow it/);
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  assert.equal(await verified('one@shop.test'), false);
  const done = await ask(link, { method: 'POST' });
  assert.match(done.text, /one@shop\.test/);
  assert.equal(await verified('one@shop.test'), true);
  assert.equal((await ask(link, { method: 'POST' })).status, 404);
  assert.equal(await proofs.request(accountId, 'one@shop.test'), 'verified');
});

test('a second link ends the first, and a link that is a day old does not work', async () => {
  const first = await mailLink('two@shop.test');
  assert.equal(await proofs.request(accountId, 'two@shop.test'), 'too-soon');
  clock.advance(60_000);
  const second = await mailLink('two@shop.test');
  assert.equal((await ask(first, { method: 'POST' })).status, 404);
  clock.advance(-25 * 3_600_000);
  const old = await mailLink('old@shop.test');
  clock.offset = 0;
  assert.equal((await ask(old, { method: 'POST' })).status, 404);
  assert.equal(await verified('old@shop.test'), false);
  assert.equal((await ask(second, { method: 'POST' })).status, 200);
});

test('tokens are stored as hashes, and those that were made up are refused', async () => {
  const link = await mailLink('three@shop.test');
  const token = link.slice(link.lastIndexOf('/') + 1);
  const { rows } = await database.pool.query<{ hash: Buffer }>('select hash from sender_proof');
  assert.ok(rows.every(({ hash }) => !hash.includes(Buffer.from(token, 'base64url'))));
  for (const text of ['x', 'A'.repeat(43), '%00', 'A'.repeat(5_000)])
    assert.ok(
      (await ask(`${service.url}/verify-sender/${text}`, { method: 'POST' })).status >= 400,
    );
});

test('a sender that is unknown gets no mail, and without a template nobody does', async () => {
  assert.equal(await proofs.request(accountId, 'nobody@shop.test'), 'unknown');
  const without = new SenderProofs({ database, clock, publicUrl: () => '', send: undefined });
  await saveSender(database.kysely, accountId, {
    address: 'four@shop.test',
    displayNames: [],
    verified: false,
  });
  assert.equal(await without.request(accountId, 'four@shop.test'), 'not-offered');
});
