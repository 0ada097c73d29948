import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAccountFirst } from '../../support/account-first.ts';
import { requireConformity } from '../../support/conform.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { getToken, openShop, publishShopTemplate, saveShop } from '../../support/shop.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, shop, client } = await openSharedShop({ worker: false });
const other = await openShop(database, { id: newAccountId() });

async function sendOne(changes: Parameters<typeof bodyWith>[0] = {}): Promise<string> {
  return client.accept({ body: bodyWith(changes) });
}

async function addEvent(
  id: string,
  kind: string,
  recipient: number | null,
  detail: object = {},
): Promise<void> {
  await database.pool.query(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
     values ($5, $1, 90, gen_random_uuid(), clock_timestamp(), $2, $3, $4)`,
    [id, kind, recipient, JSON.stringify(detail), shop.id],
  );
}

test('a newly accepted message is queued and shows the next step', async () => {
  const id = await sendOne({
    envelope: { ccAddressList: ['copy@example.test'] },
    metadata: { externalId: 'x-1', tagList: ['tag'] },
  });
  const response = await client.status(id);
  assert.equal(response.status, 200);
  requireConformity('GET', `${service.url}/ete/v1/message/${shop.id}/${id}`, response);
  const { acceptedAt, stateAt, nextAttempt, recipients, ...rest } = response.body;
  assert.deepEqual(rest, {
    success: true,
    messageId: id,
    templateId: 't-0001',
    templateVersion: 1,
    state: 'queued',
    transactional: false,
    test: false,
    externalId: 'x-1',
    tag: 'tag',
    locale: null,
    attributes: {},
    trackOpens: true,
    trackClicks: true,
    deliveryWhenDelayed: 'TRUE',
    suppressedRecipients: [],
    events: [],
  });
  assert.equal(stateAt, acceptedAt);
  assert.deepEqual(nextAttempt, { at: acceptedAt, reason: 'waiting in the queue', paused: null });
  assert.deepEqual(recipients, [
    { address: 'reader@example.test', role: 'to', state: 'queued', at: acceptedAt },
    { address: 'copy@example.test', role: 'cc', state: 'queued', at: acceptedAt },
  ]);
});

test('each recipient has a separate state, and a waiting message shows when and why', async () => {
  const id = await sendOne({ envelope: { ccAddressList: ['copy@example.test'] } });
  await addEvent(id, 'deferred', 0, { reason: 'the host is busy' });
  await addEvent(id, 'delivered', 1);
  await addEvent(id, 'link-emptied', null);
  await database.pool.query(
    `update queued_delivery set due_at = '2040-01-01T00:00:00Z', reason = 'the host is busy'
     where message_id = $1`,
    [id],
  );
  await database.pool.query(`update message set state = 'deferred' where id = $1`, [id]);
  const { body } = await client.status(id);
  assert.equal(body.state, 'deferred');
  assert.deepEqual(
    (body.recipients as { state: string }[]).map((recipient) => recipient.state),
    ['deferred', 'delivered'],
  );
  assert.deepEqual(body.nextAttempt, {
    at: '2040-01-01T00:00:00.000Z',
    reason: 'the host is busy',
    paused: null,
  });
  assert.deepEqual(
    (body.events as { kind: string; recipient: number | null }[]).map((event) => [
      event.kind,
      event.recipient,
    ]),
    [
      ['deferred', 0],
      ['delivered', 1],
      ['link-emptied', null],
    ],
  );
});

test('a message is sending while a worker holds it, and final once its queue entry is removed', async () => {
  const id = await sendOne();
  await database.pool.query(
    `update queued_delivery set lease_owner = gen_random_uuid(), stage = 'claimed', due_at = now() + interval '1 minute'
     where message_id = $1`,
    [id],
  );
  const sending = (await client.status(id)).body;
  assert.equal(sending.state, 'sending');
  assert.equal(sending.nextAttempt, null);
  await database.pool.query('delete from queued_delivery where message_id = $1', [id]);
  await database.pool.query(`update message set state = 'delivered' where id = $1`, [id]);
  const done = (await client.status(id)).body;
  assert.equal(done.state, 'delivered');
  assert.equal(done.nextAttempt, null);
});

test('values of personalization fields are never shown', async () => {
  await publishShopTemplate(database, shop, {
    id: 't-reset',
    sender: 'orders@shop.test',
    source: {
      subject: 'Reset',
      html: '<a href="{{Reset Link}}">Reset</a>',
      fields: { 'Reset Link': { secret: true } },
    },
  });
  const personalizationDataMap = { 'Reset Link': 'https://shop.test/reset/s3cr3t' };
  const response = await client.send({
    template: 't-reset',
    body: bodyWith({ content: { personalizationDataMap } }),
  });
  const { text } = await client.status(response.body.messageId);
  assert.ok(!text.includes('s3cr3t'));
});

test('a message with erased personal data still shows its outcome', async () => {
  const id = await sendOne();
  await database.pool.query('update message set content = null where id = $1', [id]);
  const { body } = await client.status(id);
  assert.equal(body.state, 'queued');
  assert.equal((body.recipients as { address: unknown }[])[0]?.address, null);
});

test('messages of a suspended account are held with the reason', async () => {
  const id = await sendOne();
  await saveShop(database, { id: shop.id, suspended: true });
  await waitFor('the suspension', async () => (await client.send()).status === 401);
  const { body, status } = await client.status(id);
  assert.equal(status, 200);
  assert.deepEqual(body.nextAttempt, {
    at: null,
    reason: 'the account is suspended; delivery resumes when the suspension ends',
    paused: null,
  });
  await saveShop(database, { id: shop.id });
  await waitFor('its end', async () => (await client.send()).status === 200);
});

test('7: without a valid token, the response is 401; for an unknown message or account it is 400 Invalid ID', async () => {
  const id = await sendOne();
  for (const response of [
    await client.status(id, shop.id, 'x'),
    await client.status('%zz', '%zz', ''),
  ]) {
    assert.equal(response.status, 401);
    assert.equal(response.body.errorName, 'UNAUTHORIZED');
  }
  const unknown = '01890000-0000-7000-8000-000000000000';
  const theirs = new SendClient(service, await getToken(service, other));
  for (const response of [
    await client.status(unknown),
    await client.status('not-an-id'),
    await client.status('%zz'),
    await client.status(''),
    await client.status(id, other.id),
    await client.status(id, 'unknown'),
    await theirs.status(id, other.id),
    await theirs.status(id, shop.id),
  ]) {
    assert.equal(response.status, 400, response.text);
    assert.equal(response.body.errorName, 'INVALID_ID');
    assert.equal(response.body.requestId, response.headers.get('x-request-id'));
  }
  assert.equal((await client.status(id.toUpperCase())).status, 200);
});

testAccountFirst(5);
