import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setOperator } from '../../../src/accounts/account/person-store.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { signInToManagement } from '../../support/management-client.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { getToken, openShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const shop = await openShop(database);
const service = await startTestService({ databaseUrl });
const token = await getToken(service, shop);
const manager = await signInToManagement(service, shop.owner.email);
const client = new SendClient(service, token);
const sender = `/accounts/${shop.id}/senders/new@shop.test`;

/** Kinds of audit events about a sender, oldest first. */
async function auditedFor(address: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ kind: string }>(
    `select kind from audit_event where detail ->> 'id' = $1 and kind like 'sender%' order by at, id`,
    [address],
  );
  return rows.map(({ kind }) => kind);
}

test('a sender verified by an emailed link can send', async () => {
  const body = bodyWith({ envelope: { fromAddress: 'new@shop.test' } });
  assert.equal((await client.send({ body })).status, 400);
  const response = await manager.post(`${sender}/link`);
  assert.equal(response.status, 200, response.text);
  assert.equal(response.body.verified, false);
  assert.ok(Date.parse(String(response.body.linkExpiresAt)) > Date.now());
  const [mail] = await readInbox(service.url, '?to=new@shop.test&wait=60');
  const link = /href="(http[^"]+\/verify-sender\/[^"]+)"/.exec(mail?.html ?? '')?.[1] ?? '';
  assert.match(mail?.text ?? '', /\/verify-sender\//);
  assert.match(mail?.html ?? '', /expires in 24 hours/);
  for (const named of ['new@shop.test', 'Shop 46100', shop.owner.email])
    assert.ok(mail?.text?.includes(named), `the mail names ${named}`);
  assert.equal((await sendRequest(link)).status, 200);
  assert.equal((await manager.get(sender)).body.verified, false);
  assert.equal((await sendRequest(link, { method: 'POST' })).status, 200);
  const confirmed = (await manager.get(sender)).body;
  assert.deepEqual(
    [confirmed.verified, confirmed.verifiedBy, confirmed.linkExpiresAt],
    [true, 'link', null],
  );
  assert.deepEqual(await auditedFor('new@shop.test'), ['sender_link_sent', 'sender_confirmed']);
  await waitFor('mail to leave', async () => (await client.send({ body })).status === 200);
  const again = await manager.post(`${sender}/link`);
  assert.equal(again.status, 409);
});

test('marking a sender as verified is for operators, and is recorded', async () => {
  const other = `/accounts/${shop.id}/senders/other@shop.test`;
  assert.equal((await manager.put(other, {})).status, 201);
  assert.equal((await manager.put(other, { verified: true })).status, 403);
  await setOperator(database.kysely, shop.owner.id, true);
  const marked = await manager.put(other, { verified: true });
  assert.equal(marked.body.verifiedBy, 'operator', marked.text);
  await setOperator(database.kysely, shop.owner.id, false);
  assert.deepEqual(await auditedFor('other@shop.test'), [
    ...['sender_created', 'sender_marked_verified', 'sender_changed'],
  ]);
});

test('a sender of a verified domain is verified at once, and shows the state of its nearest domain', async () => {
  await database.pool.query(
    `insert into sending_domain (account_id, domain, return_path, state) values
      ($1, 'ready.test', 'bounces.ready.test', 'verified'), ($1, 'later.ready.test', 'b.later.ready.test', 'pending')`,
    [shop.id],
  );
  const add = (address: string) => manager.put(`/accounts/${shop.id}/senders/${address}`, {});
  const seen = async (address: string) => {
    const { verified, verifiedBy, domainState } = (await add(address)).body;
    return [verified, verifiedBy, domainState];
  };
  assert.deepEqual(await seen('shop@ready.test'), [true, 'domain', 'verified']);
  assert.deepEqual(await seen('shop@later.ready.test'), [false, null, 'pending']);
  assert.deepEqual(await seen('shop@news.ready.test'), [false, null, 'verified']);
  assert.deepEqual(await seen('shop@already.test'), [false, null, null]);
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
