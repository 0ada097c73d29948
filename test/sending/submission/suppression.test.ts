import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAccountFirst } from '../../support/account-first.ts';
import { bodyWith } from '../../support/send-client.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const { database, shop, client } = await openSharedShop({ worker: false });

await database.pool.query(
  `
  insert into suppression (account_id, address, reason, expires_at) values
    ($1, 'bounced@example.test', 'hard_bounce', null),
    ($1, 'angry@example.test', 'complaint', null),
    ($1, 'left@example.test', 'unsubscribe', null),
    ($1, 'left-too@example.test', 'unsubscribe', null),
    ($1, 'by-hand@example.test', 'manual', null),
    ($1, 'past@example.test', 'hard_bounce', now() - interval '1 second'),
    ($1, 'x@example.test', 'manual', null)`,
  [shop.id],
);

const sendTo = (toAddress: string, ccAddressList: string[] = [], transactional = false) =>
  client.send({
    body: bodyWith({ envelope: { toAddress, ccAddressList }, metadata: { transactional } }),
  });

test('a suppressed To gets 400 RECIPIENT_SUPPRESSED with the recipients, and nothing is stored', async () => {
  for (const name of ['bounced', 'angry', 'left', 'by-hand']) {
    const response = await sendTo(`${name.toUpperCase()}@Example.test`, ['left-too@example.test']);
    assert.equal(response.status, 400);
    assert.equal(response.body.errorName, 'RECIPIENT_SUPPRESSED');
    assert.equal(response.body.message, 'Recipient email has been suppressed');
    assert.deepEqual(response.body.suppressedRecipients, [
      `${name.toUpperCase()}@example.test`,
      'left-too@example.test',
    ]);
  }
  const { rows } = await database.pool.query('select from message where account_id = $1', [
    shop.id,
  ]);
  assert.equal(rows.length, 0);
});

test('an expired suppression does not apply', async () => {
  assert.equal((await sendTo('past@example.test')).status, 200);
});

test('a transactional message ignores unsubscribes, but never bounces and complaints', async () => {
  assert.equal((await sendTo('left@example.test', [], true)).status, 200);
  assert.equal((await sendTo('bounced@example.test', [], true)).status, 400);
  assert.equal((await sendTo('angry@example.test', [], true)).status, 400);
});

test('suppressed cc addresses are skipped and listed in the 200', async () => {
  const cc = ['a@example.test', 'bounced@example.test', 'b@example.test', 'left@example.test'];
  const response = await sendTo('reader@example.test', cc);
  assert.equal(response.status, 200);
  assert.deepEqual(response.body.suppressedRecipients, [
    'bounced@example.test',
    'left@example.test',
  ]);
  const { rows } = await database.pool.query(
    `select content->'cc' as cc, content->'suppressedCc' as out, array(
       select recipient from queued_delivery q where q.account_id = m.account_id and q.message_id = m.id order by 1) as queued
     from message m where m.account_id = $2 and m.id = $1`,
    [response.body.messageId, shop.id],
  );
  assert.deepEqual(rows, [
    {
      cc: ['a@example.test', 'b@example.test'],
      out: ['bounced@example.test', 'left@example.test'],
      queued: [0, 1, 2],
    },
  ]);
  const all = await sendTo('reader@example.test', ['bounced@example.test']);
  assert.deepEqual(all.body.suppressedRecipients, ['bounced@example.test']);
});

testAccountFirst(5);
